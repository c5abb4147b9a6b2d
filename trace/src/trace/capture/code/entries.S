/* Replaced functions that must not have a stack frame of their own, and are therefore in assembly: vfork returns twice
 * on one stack, syscall and clone may start a thread, and dlopen inspects its return address. */

#if defined(__x86_64__)

#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

        .text
        .globl  vfork
        .type   vfork, @function
vfork:
        _CET_ENDBR
        movq    capture_next_vfork(%rip), %rax
        testq   %rax, %rax
        jz      patched_vfork
        jmp     *%rax
        .size   vfork, .-vfork

        .globl  patched_vfork
        .hidden patched_vfork
        .type   patched_vfork, @function
patched_vfork:
        _CET_ENDBR
        subq    $8, %rsp
        call    capture_before_vfork
        addq    $8, %rsp
        popq    %rdi                    # the child overwrites the stack, but the parent keeps its registers
        movl    $58, %eax               # vfork
        syscall
        pushq   %rdi
        testq   %rax, %rax
        jz      1f
        pushq   %rax                    # which aligns the stack
        movq    %rax, %rdi
        call    capture_after_vfork
        popq    %rdi
        cmpq    $-4096, %rdi
        ja      capture_error
        movq    %rdi, %rax
1:      ret
        .size   patched_vfork, .-patched_vfork

/* The recorder's own calls bypass the next library. */
        .globl  syscall
        .type   syscall, @function
syscall:
        _CET_ENDBR
        cmpq    $0, capture_next_syscall(%rip)
        je      patched_syscall
        movq    (%rsp), %rax
        subq    capture_own_text(%rip), %rax
        cmpq    8+capture_own_text(%rip), %rax
        jb      patched_syscall
        jmp     *capture_next_syscall(%rip)
        .size   syscall, .-syscall

        .globl  patched_syscall
        .hidden patched_syscall
        .type   patched_syscall, @function
patched_syscall:
        _CET_ENDBR
        cmpq    $512, %rdi
        jae     1f
        leaq    capture_numbers(%rip), %rax
        cmpb    $1, (%rax,%rdi)
        je      capture_syscall
        jb      1f
        lock incl capture_forks(%rip)   # table_mark_shared
1:      movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    8(%rsp), %r9
        syscall
        cmpq    $-4096, %rax
        ja      2f
        ret
2:      movq    %rax, %rdi
        jmp     capture_error
        .size   patched_syscall, .-patched_syscall

/* Enters a ring for code that made the system call itself. All registers but rax, rcx and r11 are unchanged. */
        .globl  capture_enter_inline
        .hidden capture_enter_inline
        .type   capture_enter_inline, @function
capture_enter_inline:
        pushq   %rbp
        movq    %rsp, %rbp
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %rax                    # room for the result
        subq    $4096, %rsp
        andq    $-64, %rsp
        xorl    %eax, %eax
        movq    %rax, 512(%rsp)         # the header of what xsave writes
        movq    %rax, 520(%rsp)
        movq    %rax, 528(%rsp)
        movq    %rax, 536(%rsp)
        movq    %rax, 544(%rsp)
        movq    %rax, 552(%rsp)
        movq    %rax, 560(%rsp)
        movq    %rax, 568(%rsp)
        movl    $0xe7, %eax             # x87, SSE, AVX, AVX-512
        xorl    %edx, %edx
        xsave64 (%rsp)
        movq    -24(%rbp), %rdx
        movq    %r10, %rcx
        call    capture_uring_enter
        movq    %rax, -56(%rbp)
        movl    $0xe7, %eax
        xorl    %edx, %edx
        xrstor64 (%rsp)
        leaq    -56(%rbp), %rsp
        popq    %rax
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdx
        popq    %rsi
        popq    %rdi
        popq    %rbp
        ret
        .size   capture_enter_inline, .-capture_enter_inline

        .macro  LOADS function
        .globl  \function
        .type   \function, @function
\function:
        _CET_ENDBR
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        leaq    8f(%rip), %rdi
        call    capture_before_dlopen
        popq    %rdx
        popq    %rsi
        popq    %rdi
        jmp     *%rax
        .size   \function, .-\function
        .section .rodata.str1.1,"aMS",@progbits,1
8:      .string "\function"
        .text
        .endm
        LOADS   dlopen
        LOADS   dlmopen

/* The child may have a stack of its own, and all arguments but the last are in registers. */
        .globl  clone
        .type   clone, @function
clone:
        _CET_ENDBR
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9
        subq    $8, %rsp
        movl    %edx, %edi
        call    capture_before_clone
        addq    $8, %rsp
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        jmp     *%rax
        .size   clone, .-clone

#elif defined(__aarch64__)

        .text
        .globl  vfork
        .type   vfork, %function
vfork:
        hint    34                      // bti c
        adrp    x16, capture_next_vfork
        ldr     x16, [x16, :lo12:capture_next_vfork]
        cbz     x16, patched_vfork
        br      x16
        .size   vfork, .-vfork

        .globl  patched_vfork
        .hidden patched_vfork
        .type   patched_vfork, %function
patched_vfork:
        hint    34
        stp     x29, x30, [sp, -16]!
        bl      capture_before_vfork
        ldp     x29, x30, [sp], 16
        mov     x0, 0x4111              // CLONE_VM | CLONE_VFORK | SIGCHLD
        mov     x1, 0
        mov     x2, 0
        mov     x3, 0
        mov     x4, 0
        mov     x8, 220                 // clone
        svc     0
        cbz     x0, 1f
        stp     x0, x30, [sp, -16]!
        bl      capture_after_vfork
        ldp     x0, x30, [sp], 16
        cmn     x0, 4095
        b.cs    capture_error
1:      ret
        .size   patched_vfork, .-patched_vfork

        .globl  syscall
        .type   syscall, %function
syscall:
        hint    34                      // bti c
        adrp    x16, capture_next_syscall
        ldr     x16, [x16, :lo12:capture_next_syscall]
        cbz     x16, patched_syscall
        adrp    x9, capture_own_text
        add     x9, x9, :lo12:capture_own_text
        ldp     x10, x11, [x9]
        sub     x10, x30, x10
        cmp     x10, x11
        b.lo    patched_syscall
        br      x16
        .size   syscall, .-syscall

        .globl  patched_syscall
        .hidden patched_syscall
        .type   patched_syscall, %function
patched_syscall:
        hint    34
        cmp     x0, 512
        b.hs    1f
        adrp    x9, capture_numbers
        add     x9, x9, :lo12:capture_numbers
        ldrb    w9, [x9, x0]
        cbz     w9, 1f
        cmp     w9, 1
        b.eq    capture_syscall
        adrp    x9, capture_forks       // table_mark_shared
        add     x9, x9, :lo12:capture_forks
2:      ldxr    w10, [x9]
        add     w10, w10, 1
        stxr    w11, w10, [x9]
        cbnz    w11, 2b
1:      mov     x8, x0
        mov     x0, x1
        mov     x1, x2
        mov     x2, x3
        mov     x3, x4
        mov     x4, x5
        mov     x5, x6
        svc     0
        cmn     x0, 4095
        b.cs    capture_error
        ret
        .size   patched_syscall, .-patched_syscall

        .macro  LOADS function
        .globl  \function
        .type   \function, %function
\function:
        hint    34
        stp     x29, x30, [sp, -48]!
        stp     x0, x1, [sp, 16]
        str     x2, [sp, 32]
        adrp    x0, 8f
        add     x0, x0, :lo12:8f
        bl      capture_before_dlopen
        mov     x16, x0
        ldp     x0, x1, [sp, 16]
        ldr     x2, [sp, 32]
        ldp     x29, x30, [sp], 48
        br      x16
        .size   \function, .-\function
        .section .rodata.str1.1,"aMS",%progbits,1
8:      .string "\function"
        .text
        .endm
        LOADS   dlopen
        LOADS   dlmopen

/* The child may have a stack of its own, and all arguments are in registers. */
        .globl  clone
        .type   clone, %function
clone:
        hint    34
        stp     x29, x30, [sp, -80]!
        stp     x0, x1, [sp, 16]
        stp     x2, x3, [sp, 32]
        stp     x4, x5, [sp, 48]
        str     x6, [sp, 64]
        mov     w0, w2
        bl      capture_before_clone
        mov     x16, x0
        ldp     x0, x1, [sp, 16]
        ldp     x2, x3, [sp, 32]
        ldp     x4, x5, [sp, 48]
        ldr     x6, [sp, 64]
        ldp     x29, x30, [sp], 80
        br      x16
        .size   clone, .-clone

#endif

        .section .note.GNU-stack,"",%progbits
