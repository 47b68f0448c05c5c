L0:
(W)     and (1|M0)               r127.0<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud
(W)     add (1|M0)               r127.0<1>:ud  r127.0<0;1,0>:ud  0x0:ud              {I@1}
(W)     mov (16|M0)              r113.0<1>:ud  r0.0<1;1,0>:ud
(W)     or (1|M0)                cr0.0<1>:ud   cr0.0<0;1,0>:ud   0x400004C0:ud              {A@1}
(W)     mov (1|M0)               r1.24<2>:b    r113.8<0;1,0>:b                  {A@1}
(W)     shl (1|M0)               r2.0<1>:d     r113.1<0;1,0>:d   7:w               {Compacted}
(W)     mov (1|M0)               r3.0<1>:d     r1.24<0;1,0>:ub                  {I@2}
(W)     mov (1|M0)               r5.0<1>:d     112:w                               {Compacted}
(W)     shl (1|M0)               r4.0<1>:d     r3.0<0;1,0>:d     4:w               {Compacted,I@2}
(W)     shl (1|M0)               r6.0<1>:d     r3.0<0;1,0>:d     2:w               {Compacted}
(W)     bfn.0xF8 (1|M0)          r114.8<1>:ud  r4.0<0;0>:ud      r5.0<0;0>:ud      r2.0<0>:ud       {I@2} // s0&s1|s2
(W)     and (1|M0)               r114.9<1>:d   r6.0<0;1,0>:d     96:w               {I@2}
        mov (16|M0)              r116.0<1>:f   0.0:f                               {Compacted}
        mov (16|M0)              r117.0<1>:f   0.0:f                               {Compacted}
        mov (16|M0)              r118.0<1>:f   0.0:f                               {Compacted}
        mov (16|M0)              r119.0<1>:f   0.0:f                               {Compacted}
        mov (16|M0)              r120.0<1>:f   0.0:f                               {Compacted}
        mov (16|M0)              r121.0<1>:f   0.0:f                               {Compacted}
        mov (16|M0)              r122.0<1>:f   0.0:f                               {Compacted}
        mov (16|M0)              r123.0<1>:f   0.0:f                               {Compacted}
(W)     mov (1|M0)               r126.0<1>:q   r1.0<0;1,0>:q
(W)     mov (1|M0)               r126.2<1>:d   16383:w
(W)     mov (1|M0)               r126.3<1>:d   127:w
(W)     mov (1|M0)               r126.4<1>:d   16383:w
(W)     mov (1|M0)               r126.5<1>:d   0:w
(W)     mov (1|M0)               r126.7<1>:f   9.43676e-41:f
(W)     mov (1|M0)               r114.0<1>:q   r1.1<0;1,0>:q
(W)     mov (1|M0)               r114.1<1>:uq  0x1FFF000001FF:uq
(W)     mov (1|M0)               r114.4<1>:d   511:w
(W)     mov (1|M0)               r114.3<1>:uq  0x1F0F00000000:uq
(W)     mov (1|M0)               r126.4<1>:q   0:w
(W)     mov (1|M0)               r114.5<1>:d   r114.8<0;1,0>:d
(W)     mov (1|M0)               r126.6<1>:d   r114.9<0;1,0>:d
L432:
(W)     mov (1|M0)               r126.5<1>:d   r126.8<0;1,0>:d                  {I@3}
(W)     mov (1|M0)               r114.6<1>:d   r126.8<0;1,0>:d
        sync.nop                             null                             {$2.src}
        send.ugm (1|M0)          r3       r126  null:0  0x0            0x02800203           {A@1,$8} // wr:1+0, rd:8; load_block2d.ugm.d16.a64
        send.ugm (1|M0)          r11      r114  null:0  0x0            0x03000283           {I@1,$9} // wr:1+0, rd:16; load_block2d.ugm.d16v.a64
(W)     mov (2|M0)               r1.6<1>:d     r126.8<1;1,0>:d
(W)     send.slm (1|M0)          r27      r113  null:0  0x0            0x0210001F           {$10} // wr:1+0, rd:1; fence.slm.none.group
(W)     mov (8|M0)               null<1>:ud    r27.0<1;1,0>:ud                  {$10.dst}
(W)     send.ugm (1|M0)          r28      r113  null:0  0x0            0x0210001F           {$11} // wr:1+0, rd:1; fence.ugm.none.group
(W)     mov (1|M0)               r29.2<1>:f    3.58732e-43:f
(W)     mov (2|M0)               r29.10<1>:ub  r113.11<0;1,0>:ub                {F@1}
(W)     mov (8|M0)               null<1>:ud    r28.0<1;1,0>:ud                  {$11.dst}
(W)     send.gtwy (1|M0)         null     r29  null:0  0x0            0x02000004           {I@2,$12} // wr:1+0, rd:0; signal barrier
(W)     sync.bar                             0x0
        sync.allwr                           ($2,$9)
        dpas.8x8 (16|M0)         r116:f        r116:f            r11:hf            r3.0:hf          {$8}
(W)     mov (1|M0)               r30.0<1>:uq   r1.1<0;1,0>:q
(W)     mov (1|M0)               r30.1<1>:uq   0x1FFF000001FF:uq
(W)     mov (1|M0)               r30.4<1>:ud   511:w
(W)     mov (1|M0)               r30.5<1>:ud   r114.8<0;1,0>:d
(W)     mov (1|M0)               r30.6<1>:ud   r126.8<0;1,0>:d
(W)     mov (1|M0)               r30.7<1>:ud   0x1F0F:uw
        send.ugm (1|M0)          r33      r126  null:0  0x20000            0x02800203           {$13} // wr:1+0, rd:8; load_block2d.ugm.d16.a64.flat[A+(0x20,0x0)]
        send.ugm (1|M0)          r41      r114  null:0  0x8000000            0x03000283           {$14} // wr:1+0, rd:16; load_block2d.ugm.d16v.a64.flat[A+(0x0,0x20)]
        send.ugm (1|M0)          null     r30  null:0  0x0            0x02080203           {I@1,$15} // wr:1+0, rd:0; load_block2d.ugm.d16.a64.ca.ca
(W)     or (1|M0)                r31.6<1>:ud   r126.8<0;1,0>:d   32:w               {$7.src}
        dpas.8x8 (16|M0)         r116:f        r116:f            r19:hf            r7.0:hf          {Compacted,$8}
        sync.nop                             null                             {Compacted,$6.src}
(W)     send.slm (1|M0)          r57      r113  null:0  0x0            0x0210001F           {$9} // wr:1+0, rd:1; fence.slm.none.group
(W)     mov (8|M0)               null<1>:ud    r57.0<1;1,0>:ud                  {Compacted,$9.dst}
        sync.nop                             null                             {Compacted,$4.src}
(W)     send.ugm (1|M0)          r58      r113  null:0  0x0            0x0210001F           {$10} // wr:1+0, rd:1; fence.ugm.none.group
(W)     mov (1|M0)               r59.2<1>:f    3.58732e-43:f
(W)     mov (2|M0)               r59.10<1>:ub  r113.11<0;1,0>:ub                {F@1}
(W)     mov (8|M0)               null<1>:ud    r58.0<1;1,0>:ud                  {$10.dst}
(W)     send.gtwy (1|M0)         null     r59  null:0  0x0            0x02000004           {I@2,$11} // wr:1+0, rd:0; signal barrier
(W)     sync.bar                             0x0
        sync.allwr                           ($8,$14)
        dpas.8x8 (16|M0)         r116:f        r116:f            r41:hf            r33.0:hf         {$13}
(W)     mov (1|M0)               r31.0<1>:uq   r1.1<0;1,0>:q
(W)     mov (1|M0)               r31.1<1>:uq   0x1FFF000001FF:uq
(W)     mov (1|M0)               r31.4<1>:ud   511:w
(W)     mov (1|M0)               r31.5<1>:ud   r114.8<0;1,0>:d
(W)     mov (1|M0)               r31.7<1>:ud   0x1F0F:uw
        send.ugm (1|M0)          r61      r126  null:0  0x40000            0x02800203           {$6} // wr:1+0, rd:8; load_block2d.ugm.d16.a64.flat[A+(0x40,0x0)]
        send.ugm (1|M0)          r69      r114  null:0  0x10000000            0x03000283           {$3} // wr:1+0, rd:16; load_block2d.ugm.d16v.a64.flat[A+(0x0,0x40)]
        send.ugm (1|M0)          null     r31  null:0  0x0            0x02080203           {I@1,$4} // wr:1+0, rd:0; load_block2d.ugm.d16.a64.ca.ca
(W)     or (1|M0)                r60.6<1>:ud   r126.8<0;1,0>:d   64:w
        dpas.8x8 (16|M0)         r116:f        r116:f            r49:hf            r37.0:hf         {Compacted,$13}
        sync.nop                             null                             {Compacted,$3.src}
(W)     send.slm (1|M0)          r85      r113  null:0  0x0            0x0210001F           {$1} // wr:1+0, rd:1; fence.slm.none.group
(W)     mov (8|M0)               null<1>:ud    r85.0<1;1,0>:ud                  {$1.dst}
(W)     send.ugm (1|M0)          r86      r113  null:0  0x0            0x0210001F           {$5} // wr:1+0, rd:1; fence.ugm.none.group
(W)     mov (1|M0)               r87.2<1>:f    3.58732e-43:f
(W)     mov (2|M0)               r87.10<1>:ub  r113.11<0;1,0>:ub                {F@1}
(W)     mov (8|M0)               null<1>:ud    r86.0<1;1,0>:ud                  {$5.dst}
(W)     send.gtwy (1|M0)         null     r87  null:0  0x0            0x02000004           {I@2,$7} // wr:1+0, rd:0; signal barrier
(W)     sync.bar                             0x0
(W)     mov (8|M0)               null<1>:ud    r112.0<1;1,0>:ud                 {$10.dst}
(W)     send.gtwy (1|M0)         null     r2  null:0  0x0            0x02000004           {I@2,$1} // wr:1+0, rd:0; signal barrier
(W)     sync.bar                             0x0
        sync.allwr                           ($8,$12)
        dpas.8x8 (16|M0)         r116:f        r116:f            r95:hf            r87.0:hf         {Compacted,$11}
(W)     or (1|M0)                r3.0<1>:d     r126.8<0;1,0>:d   480:w               {Compacted}
(W)     mov (1|M0)               r86.0<1>:uq   r1.1<0;1,0>:q
(W)     mov (1|M0)               r4.0<1>:f     r3.0<0;1,0>:f                    {I@2}
(W)     mov (1|M0)               r86.1<1>:uq   0x1FFF000001FF:uq
(W)     mov (1|M0)               r86.4<1>:ud   511:w
(W)     mov (1|M0)               r86.5<1>:ud   r114.8<0;1,0>:d
(W)     mov (1|M0)               r86.7<1>:ud   0x1F0F:uw
(W)     mov (1|M0)               r126.5<1>:d   r4.0<0;1,0>:d                    {F@1}
(W)     mov (1|M0)               r114.6<1>:d   r4.0<0;1,0>:d
        send.ugm (1|M0)          null     r86  null:0  0x0            0x02080203           {I@3,$5} // wr:1+0, rd:0; load_block2d.ugm.d16.a64.ca.ca
        send.ugm (1|M0)          r5       r126  null:0  0x0            0x02800203           {I@2,$13} // wr:1+0, rd:8; load_block2d.ugm.d16.a64
        send.ugm (1|M0)          r13      r114  null:0  0x0            0x03000283           {I@1,$15} // wr:1+0, rd:16; load_block2d.ugm.d16v.a64
(W)     mov (1|M0)               r4.1<1>:d     r1.7<0;1,0>:d
        dpas.8x8 (16|M0)         r116:f        r116:f            r103:hf           r91.0:hf         {Compacted,$11}
        sync.nop                             null                             {Compacted,$4.src}
(W)     send.slm (1|M0)          r29      r113  null:0  0x0            0x0210001F           {$8} // wr:1+0, rd:1; fence.slm.none.group
(W)     mov (8|M0)               null<1>:ud    r29.0<1;1,0>:ud                  {Compacted,$8.dst}
        sync.nop                             null                             {Compacted,$14.src}
(W)     send.ugm (1|M0)          r30      r113  null:0  0x0            0x0210001F           {$9} // wr:1+0, rd:1; fence.ugm.none.group
(W)     mov (1|M0)               r31.2<1>:f    3.58732e-43:f
(W)     mov (2|M0)               r31.10<1>:ub  r113.11<0;1,0>:ub                {F@1}
(W)     mov (8|M0)               null<1>:ud    r30.0<1;1,0>:ud                  {$9.dst}
(W)     send.gtwy (1|M0)         null     r31  null:0  0x0            0x02000004           {I@2,$7} // wr:1+0, rd:0; signal barrier
(W)     sync.bar                             0x0
(W)     mov (1|M0)               r32.0<1>:uq   r1.1<0;1,0>:q
(W)     mov (1|M0)               r32.1<1>:uq   0x1FFF000001FF:uq
(W)     mov (1|M0)               r32.4<1>:ud   511:w
(W)     mov (1|M0)               r32.5<1>:ud   r114.8<0;1,0>:d
(W)     mov (1|M0)               r32.6<1>:ud   r4.0<0;1,0>:d
(W)     mov (1|M0)               r32.7<1>:ud   0x1F0F:uw
        sync.allwr                           ($11,$15)
        dpas.8x8 (16|M0)         r116:f        r116:f            r13:hf            r5.0:hf          {Compacted,$13}
        send.ugm (1|M0)          null     r32  null:0  0x0            0x02080203           {I@1,$0} // wr:1+0, rd:0; load_block2d.ugm.d16.a64.ca.ca
(W)     cmp (16|M0)   (lt)f0.0   null<1>:d     r3.0<0;1,0>:ud    0x1FE0:uw
(W&f0.0) cmp (16|M0)  (eq)f0.0   null<1>:d     r1.7<0;1,0>:d     0:w
        sync.nop                             null                             {Compacted,$13.dst}
        dpas.8x8 (16|M0)         r116:f        r116:f            r21:hf            r9.0:hf          {$2}
(W&~f0.0) jmpi                               L1968
L1936:
(W)     add (1|M0)               r126.4<1>:q   r126.4<0;1,0>:q   512:w
(W)     jmpi                                 L432
L1968:
(W)     mov (1|M0)               r2.0<1>:uq    r1.2<0;1,0>:q                    {$1.src}
(W)     mov (1|M0)               r2.1<1>:uq    0x7F000003FF:uq
(W)     mov (1|M0)               r2.4<1>:ud    1023:w
(W)     mov (2|M0)               r2.5<1>:ud    r114.8<1;1,0>:d
(W)     mov (1|M0)               r2.7<1>:ud    0x70F:uw
(W)     mov (16|M0)              r127.0<1>:f   r113.0<1;1,0>:f
        send.ugm (1|M0)          null     r2  r116:8  0x0            0x02000407           {I@1,$2} // wr:1+8, rd:0; store_block2d.ugm.d32.a64
(W)     send.gtwy (1|M0)         null     r127  null:0  0x0            0x02000010           {EOT,F@1,$10} // wr:1+0, rd:0; end of thread
L2096:
(W)     mov (16|M0)              null<1>:ud    0x11365B25:ud
(W)     mov (16|M0)              null<1>:ud    0x92BA2E09:ud
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
