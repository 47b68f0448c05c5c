L0:
(W)     and (1|M0)               r255.0<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     add (1|M0)               r255.0<1>:ud  r255.0<0;1,0>:ud  0x0:ud              {I@1}
(W)     send.ugm (1|M0)          r1       r255    null:0  0xFF000000            0x6218C500           {A@1,$0} // wr:1+0, rd:1; load.ugm.d32x8t.a32.ca.ca.bti[255]
(W)     mov (1|M0)               null<1>:ud    0x30433:ud                              {$0.src}
(W)     mov (1|M0)               null<1>:ud    r255.0<0;1,0>:ud                 {Compacted}
        sync.nop                             null                             {Compacted,I@1}
(W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x4C0:uw              {Compacted,A@1}
(W)     mov (1|M0)               r1.24<2>:b    r0.8<0;1,0>:b                    {A@1,$0.dst}
(W)     shl (1|M0)               r34.0<1>:d    r0.1<0;1,0>:d     7:w               {Compacted}
(W)     mov (1|M0)               r1.9<1>:d     112:w
(W)     mov (1|M0)               r35.0<1>:uq   r1.0<0;1,0>:q
(W)     mov (2|M0)               r35.2<1>:ud   127:w
(W)     mov (1|M0)               r1.7<1>:d     r1.24<0;1,0>:ub                  {I@5}
(W)     mov (1|M0)               r35.4<1>:ud   127:w
(W)     mov (1|M0)               r35.5<1>:ud   0:w
(W)     mov (1|M0)               r35.7<1>:f    1.02977e-40:f
(W)     mov (1|M0)               r84.0<1>:uq   r1.1<0;1,0>:q
(W)     shl (1|M0)               r1.8<1>:d     r1.7<0;1,0>:d     4:w               {I@4}
(W)     shl (1|M0)               r1.10<1>:d    r1.7<0;1,0>:d     2:w
(W)     mov (1|M0)               r84.1<1>:uq   0x3F000001FF:uq
(W)     mov (1|M0)               r84.4<1>:ud   511:w
(W)     mov (1|M0)               r84.6<1>:ud   0:w
(W)     bfn.0xF8 (1|M0)          r1.12<1>:ud   r1.8<0;0>:ud      r1.9<0;0>:ud      r34.0<0>:ud      {I@5} // s0&s1|s2
(W)     and (1|M0)               r1.13<1>:d    r1.10<0;1,0>:d    96:w               {I@5}
(W)     mov (1|M0)               r84.7<1>:ud   0x1F0F:uw
(W)     mov (1|M0)               r85.0<1>:uq   r1.0<0;1,0>:q
(W)     mov (2|M0)               r85.2<1>:ud   127:w
(W)     mov (1|M0)               r84.5<1>:ud   r1.12<0;1,0>:d                   {I@5}
(W)     mov (1|M0)               r35.6<1>:ud   r1.13<0;1,0>:d                   {I@5}
(W)     mov (1|M0)               r85.4<1>:ud   127:w
(W)     mov (1|M0)               r85.5<1>:ud   32:w
(W)     mov (1|M0)               r85.7<1>:f    1.02977e-40:f
        send.ugm (1|M0)          r36      r84     null:0  0x0            0x03000283           {A@4,$1} // wr:1+0, rd:16; load_block2d.ugm.d16v.a64
        send.ugm (1|M0)          r2       r35     null:0  0x0            0x03F00203           {A@2,$2} // wr:1+0, rd:31; load_block2d.ugm.d16.a64
(W)     mov (1|M0)               r102.0<1>:uq  r1.1<0;1,0>:q
(W)     mov (1|M0)               r102.1<1>:uq  0x3F000001FF:uq
(W)     mov (1|M0)               r102.4<1>:ud  511:w
(W)     mov (1|M0)               r102.6<1>:ud  32:w
(W)     mov (1|M0)               r102.7<1>:ud  0x1F0F:uw
(W)     mov (1|M0)               r102.5<1>:ud  r1.12<0;1,0>:d
(W)     mov (1|M0)               r85.6<1>:ud   r1.13<0;1,0>:d
(W)     mov (1|M0)               r111.0<1>:uq  r1.2<0;1,0>:q
(W)     mov (1|M0)               r111.1<1>:uq  0x7F000003FF:uq
(W)     mov (1|M0)               r111.4<1>:ud  1023:w
        send.ugm (1|M0)          r86      r102    null:0  0x0            0x03000283           {A@5,$3} // wr:1+0, rd:16; load_block2d.ugm.d16v.a64
        send.ugm (1|M0)          r52      r85     null:0  0x0            0x03F00203           {A@1,$4} // wr:1+0, rd:31; load_block2d.ugm.d16.a64
(W)     mov (1|M0)               r111.7<1>:ud  0x70F:uw
(W)     mov (2|M0)               r111.5<1>:ud  r1.12<1;1,0>:d
(W)     mov (1|M0)               r112.0<1>:uq  r1.2<0;1,0>:q
(W)     mov (1|M0)               r112.1<1>:uq  0x7F000003FF:uq
(W)     mov (1|M0)               r112.4<1>:ud  1023:w
(W)     mov (1|M0)               r112.7<1>:ud  0x70F:uw
(W)     mov (1|M0)               r112.5<1>:ud  r1.12<0;1,0>:d
(W)     or (1|M0)                r112.6<1>:ud  r1.13<0;1,0>:d    8:w
(W)     mov (1|M0)               r137.0<1>:uq  r1.2<0;1,0>:q
(W)     mov (1|M0)               r137.1<1>:uq  0x7F000003FF:uq
(W)     mov (1|M0)               r137.4<1>:ud  1023:w
(W)     mov (1|M0)               r137.7<1>:ud  0x70F:uw
(W)     mov (1|M0)               r137.5<1>:ud  r1.12<0;1,0>:d
(W)     or (1|M0)                r137.6<1>:ud  r1.13<0;1,0>:d    16:w
(W)     mov (1|M0)               r138.0<1>:uq  r1.2<0;1,0>:q
(W)     mov (1|M0)               r138.1<1>:uq  0x7F000003FF:uq
(W)     mov (1|M0)               r138.4<1>:ud  1023:w
(W)     mov (1|M0)               r138.7<1>:ud  0x70F:uw
(W)     mov (16|M0)              r255.0<1>:f   r0.0<1;1,0>:f                    {Compacted}
(W)     mov (1|M0)               r138.5<1>:ud  r1.12<0;1,0>:d
(W)     or (1|M0)                r138.6<1>:ud  r1.13<0;1,0>:d    24:w
        sync.nop                             null                             {Compacted,$2.dst}
        dpas.8x8 (16|M0)         r103:f        null:f            r36:hf            r2.0:hf          {Atomic,$1.dst}
        dpas.8x8 (16|M0)         r113:f        null:f            r36:hf            r6.0:hf          {Atomic}
        dpas.8x8 (16|M0)         r121:f        null:f            r36:hf            r10.0:hf         {Atomic}
        dpas.8x8 (16|M0)         r129:f        null:f            r36:hf            r14.0:hf         {$1}
        dpas.8x8 (16|M0)         r103:f        r103:f            r44:hf            r18.0:hf         {Atomic,Compacted,$1.dst}
        dpas.8x8 (16|M0)         r113:f        r113:f            r44:hf            r22.0:hf         {Atomic,Compacted}
        dpas.8x8 (16|M0)         r121:f        r121:f            r44:hf            r26.0:hf         {Atomic,Compacted}
        dpas.8x8 (16|M0)         r129:f        r129:f            r44:hf            r30.0:hf         {Compacted,$1}
        sync.allwr                           ($1,$4)                 {Compacted}
        dpas.8x8 (16|M0)         r103:f        r103:f            r86:hf            r52.0:hf         {Atomic,Compacted,$3.dst}
        dpas.8x8 (16|M0)         r113:f        r113:f            r86:hf            r56.0:hf         {Atomic,Compacted}
        dpas.8x8 (16|M0)         r121:f        r121:f            r86:hf            r60.0:hf         {Atomic,Compacted}
        dpas.8x8 (16|M0)         r129:f        r129:f            r86:hf            r64.0:hf         {Compacted,$3}
        dpas.8x8 (16|M0)         r103:f        r103:f            r94:hf            r68.0:hf         {Atomic,Compacted,$3.dst}
        dpas.8x8 (16|M0)         r113:f        r113:f            r94:hf            r72.0:hf         {Atomic,Compacted}
        dpas.8x8 (16|M0)         r121:f        r121:f            r94:hf            r76.0:hf         {Atomic,Compacted}
        dpas.8x8 (16|M0)         r129:f        r129:f            r94:hf            r80.0:hf         {Compacted,$3}
        send.ugm (1|M0)          null     r111    r103:8  0x0            0x02000407           {$3} // wr:1+8, rd:0; store_block2d.ugm.d32.a64
        send.ugm (1|M0)          null     r112    r113:8  0x0            0x02000407           {$5} // wr:1+8, rd:0; store_block2d.ugm.d32.a64
        send.ugm (1|M0)          null     r137    r121:8  0x0            0x02000407           {I@7,$6} // wr:1+8, rd:0; store_block2d.ugm.d32.a64
        send.ugm (1|M0)          null     r138    r129:8  0x0            0x02000407           {A@1,$7} // wr:1+8, rd:0; store_block2d.ugm.d32.a64
(W)     send.gtwy (1|M0)         null     r255    null:0  0x0            0x02000010           {EOT,F@1,$8} // wr:1+0, rd:0; end of thread
L1288:
        nop
(W)     mov (16|M0)              null<1>:ud    0x8B8D971A:ud
(W)     mov (16|M0)              null<1>:ud    0xFD6BB337:ud
(W)     mov (16|M0)              null<1>:ud    0x0:ud
(W)     mov (16|M0)              null<1>:ud    0x1:ud
        illegal
        illegal
        illegal
        illegal
        illegal
        illegal
        illegal
        illegal
        illegal
        illegal
