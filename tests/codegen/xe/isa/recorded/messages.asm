        send.ugm (16|M0)         null     r76  r245:1  0x0            0x04000593           {I@7,$2} // wr:2+1, rd:0; atomic_fadd.ugm.d32.a64
(W)     send.gtwy (1|M0)         null     r255  null:0  0x0            0x02000010           {EOT,F@1,$11} // wr:1+0, rd:0; end of thread
(W)     send.slm (1|M0)          r11      r114  null:0  0x0            0x0210001F           {$18} // wr:1+0, rd:1; fence.slm.none.group
(W)     send.ugm (1|M0)          r8       r114  null:0  0x0            0x0210001F           {$19} // wr:1+0, rd:1; fence.ugm.none.group
(W)     send.dc0 (16|M0)         r166     r0      null:0  0x0            0x021C1000           {$3} // wr:1h+0, rd:1; hword scratch block read x2
(W)     send.dc0 (16|M0)         r200     r0      null:0  0x0            0x024C3002           {$15} // wr:1h+0, rd:4; hword scratch block read x8
(W)     send.dc0 (8|M0)          null     r0      r247:1  0x0            0x020F1002           {F@1,$2} // wr:1h+1, rd:0; hword scratch block write x2
(W)     send.dc0 (16|M0)         null     r0      r2:2    0x0            0x020F2000           {$1} // wr:1h+2, rd:0; hword scratch block write x4
(W)     send.dc0 (16|M0)         null     r0      r200:4  0x0            0x020F3002           {$29} // wr:1h+4, rd:0; hword scratch block write x8
        send.slm (16|M0)         r9       r1  null:0  0x0            0x02100500           {I@1,$28} // wr:1+0, rd:1; load.slm.d32.a32
        send.slm (16|M0)         r7       r1  null:0  0x400000            0x02100500           {$29} // wr:1+0, rd:1; load.slm.d32.a32.flat[A+0x400]
        send.slm (16|M0)         r30      r5  null:0  0x0            0x02403500           {I@4,$21} // wr:1+0, rd:4; load.slm.d32x4.a32
        send.slm (16|M0)         r34      r5  null:0  0x100000            0x02403500           {$22} // wr:1+0, rd:4; load.slm.d32x4.a32.flat[A+0x100]
(W)     send.slm (1|M0)          r5       r249    null:0  0x0            0x0210C500           {I@2,$19} // wr:1+0, rd:1; load.slm.d32x8t.a32
(W)     send.slm (1|M0)          r1       r1  null:0  0x5000000            0x0210C500           {I@2,$27} // wr:1+0, rd:1; load.slm.d32x8t.a32.flat[A+0x5000]
        send.ugm (16|M0)         r17      r15  null:0  0x0            0x04100580           {I@1,$0} // wr:2+0, rd:1; load.ugm.d32.a64
(W)     send.ugm (1|M0)          r1       r255    null:0  0xFF000000            0x6218D500           {A@1,$0} // wr:1+0, rd:1; load.ugm.d32x16t.a32.ca.ca.bti[255]
(W)     send.ugm (1|M0)          r2       r34  null:0  0x8AC00000:a0.2        0x4220E500           {I@7,$13} // wr:1+0, rd:2; load.ugm.d32x32t.a32.ss[a0.2][A-0xEA80]
(W)     send.ugm (1|M0)          r205     r66  null:0  0x80200000:a0.2        0x4240F500           {$12} // wr:1+0, rd:4; load.ugm.d32x64t.a32.ss[a0.2][A-0xFFC0]
(W)     send.ugm (1|M0)          r1       r255    null:0  0xFF000000            0x6218C500           {A@1,$0} // wr:1+0, rd:1; load.ugm.d32x8t.a32.ca.ca.bti[255]
(W)     send.ugm (1|M0)          r2       r255  null:0  0xFF000000            0x6219C500           {A@1,$0} // wr:1+0, rd:1; load.ugm.d32x8t.a32.ca.cc.bti[255]
        send.ugm (1|M0)          r6       r5  null:0  0x0            0x03F00203           {F@1,$1} // wr:1+0, rd:31; load_block2d.ugm.d16.a64
        send.ugm (1|M0)          null     r4  null:0  0x0            0x02080203           {I@5,$3} // wr:1+0, rd:0; load_block2d.ugm.d16.a64.ca.ca
        send.ugm (1|M0)          r100     r132  null:0  0x8000000            0x03F00203           {$7} // wr:1+0, rd:31; load_block2d.ugm.d16.a64.flat[A+(0x0,0x20)]
        send.ugm (1|M0)          null     r150  null:0  0x0            0x02040203           {$0} // wr:1+0, rd:0; load_block2d.ugm.d16.a64.uc.ca
        send.ugm (1|M0)          r40      r2  null:0  0x0            0x03F00283           {A@2,$0} // wr:1+0, rd:31; load_block2d.ugm.d16v.a64
        send.ugm (1|M0)          r2       r253  null:0  0x20000            0x03F00283           {$9} // wr:1+0, rd:31; load_block2d.ugm.d16v.a64.flat[A+(0x20,0x0)]
        send.ugm (1|M0)          r1       r235  null:0  0x0            0x02100403           {I@1,$27} // wr:1+0, rd:1; load_block2d.ugm.d32.a64
        send.ugm (1|M0)          r93      r240  null:0  0x0            0x02808403           {I@5,$19} // wr:1+0, rd:8; load_block2d.ugm.d32t.a64
(W)     send.gtwy (1|M0)         null     r2  null:0  0x0            0x02000004           {I@2,$20} // wr:1+0, rd:0; signal barrier
        send.slm (16|M0)         null     r1  r4:1  0x0            0x02000504           {I@1,$23} // wr:1+1, rd:0; store.slm.d32.a32
        send.slm (16|M0)         null     r1  r3:1  0x40000            0x02000504           {F@1,$24} // wr:1+1, rd:0; store.slm.d32.a32.flat[A+0x40]
(W)     send.slm (1|M0)          null     r254    r27:1   0x0            0x0200D504           {A@5,$13} // wr:1+1, rd:0; store.slm.d32x16t.a32
(W)     send.slm (1|M0)          null     r6  r5:1  0x5000000            0x0200D504           {A@1,$11} // wr:1+1, rd:0; store.slm.d32x16t.a32.flat[A+0x5000]
        send.slm (16|M0)         null     r9  r30:4  0x0            0x02003504           {I@3,$2} // wr:1+4, rd:0; store.slm.d32x4.a32
        send.slm (16|M0)         null     r9  r34:4  0x1000000            0x02003504           {I@5,$3} // wr:1+4, rd:0; store.slm.d32x4.a32.flat[A+0x1000]
(W)     send.slm (1|M0)          null     r253    r58:1   0x0            0x0200C504           {A@3,$14} // wr:1+1, rd:0; store.slm.d32x8t.a32
(W)     send.slm (1|M0)          null     r6  r1:1  0x5040000            0x0200C504           {F@7,$22} // wr:1+1, rd:0; store.slm.d32x8t.a32.flat[A+0x5040]
        send.ugm (16|M0)         null     r29  r26:1  0x0            0x04000584           {F@1,$2} // wr:2+1, rd:0; store.ugm.d32.a64
(W)     send.ugm (1|M0)          null     r66  r203:1  0x80E00000:a0.2        0x4200D504           {$29} // wr:1+1, rd:0; store.ugm.d32x16t.a32.ss[a0.2][A-0xFE40]
(W)     send.ugm (1|M0)          null     r66  r201:2  0x80A00000:a0.2        0x4200E504           {$28} // wr:1+2, rd:0; store.ugm.d32x32t.a32.ss[a0.2][A-0xFEC0]
(W)     send.ugm (1|M0)          null     r66  r205:4  0x80200000:a0.2        0x4200F504           {$27} // wr:1+4, rd:0; store.ugm.d32x64t.a32.ss[a0.2][A-0xFFC0]
(W)     send.ugm (1|M0)          null     r2  r1:1  0x0            0x0200C584           {A@1,$28} // wr:1+1, rd:0; store.ugm.d32x8t.a64
        send.ugm (1|M0)          null     r48  r81:8  0x0            0x02000407           {$4} // wr:1+8, rd:0; store_block2d.ugm.d32.a64
        send.ugm (1|M0)          null     r234  r11:8  0x2000000            0x02000407           {I@1,$24} // wr:1+8, rd:0; store_block2d.ugm.d32.a64.flat[A+(0x0,0x8)]
