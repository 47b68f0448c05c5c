"""Thread pool of the kernels as LLVM IR; every object carries it, and several link into one program.

A thread waits by spinning for 0.2 ms, several times the latency of waking a sleeping one, then sleeps
in the kernel until it is woken. With more threads than CPUs it sleeps at once, because the thread it waits for may need
the CPU.

    pool + 0     i32 threads, i32 stop, i64 how long to look in TSC cycles, i32 whether the caller was pinned
    pool + 64    i32 threads that are not done with the call, i32 whether the caller sleeps
    pool + 128   i32 threads that reached the barrier
    pool + 192   i32 barriers passed, i32 threads that sleep at it
    pool + 256   the CPUs that the caller was allowed before: 1024 bits
    pool + 384   for each thread 128 bytes, which the caller writes: i32 calls so far, i32 whether it sleeps, ptr
                 function, ptr its arguments; then what never changes: i64 thread, ptr pool, i32 number, i32 CPU

Each is on cache lines of its own, as one thread writes what another looks at. Numbers of calls: those of Linux on
x86-64 (202 futex, 203 sched_setaffinity, 204 sched_getaffinity, 158 arch_prctl).
"""

POOL_CREATE, POOL_DESTROY = "xetune_pool_create", "xetune_pool_destroy"
POOL_RUN, POOL_BARRIER, POOL_GATHER = "xetune_pool_run", "xetune_pool_barrier", "xetune_pool_gather"
AMX_PERMITTED = "xetune_amx_permitted"

POOL = """\
declare i64 @syscall(i64, ...)
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)

; Whether a word is no longer `old`, within the time.
define linkonce_odr hidden i1 @xetune_pool_look(ptr %word, i32 %old, i64 %cycles) nounwind {
  %start = call i64 @llvm.readcyclecounter()
  br label %look
look:
  %value = load atomic i32, ptr %word acquire, align 4
  %changed = icmp ne i32 %value, %old
  br i1 %changed, label %yes, label %again
again:
  call void @llvm.x86.sse2.pause()
  %now = call i64 @llvm.readcyclecounter()
  %passed = sub i64 %now, %start
  %more = icmp ult i64 %passed, %cycles
  br i1 %more, label %look, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

; Return once a word is no longer `old`; `asleep` counts those whom a change must wake.
define linkonce_odr hidden void @xetune_pool_wait(ptr %pool, ptr %word, i32 %old, ptr %asleep) nounwind {
  %of_cycles = getelementptr i8, ptr %pool, i64 8
  %cycles = load i64, ptr %of_cycles, align 8
  %seen = call i1 @xetune_pool_look(ptr %word, i32 %old, i64 %cycles)
  br i1 %seen, label %done, label %sleep
sleep:
  %sleepers = atomicrmw add ptr %asleep, i32 1 seq_cst
  br label %check
check:
  %value = load atomic i32, ptr %word seq_cst, align 4
  %same = icmp eq i32 %value, %old
  br i1 %same, label %futex, label %woken
futex:
  %slept = call i64 (i64, ...) @syscall(i64 202, ptr %word, i32 128, i32 %old, ptr null)
  br label %check
woken:
  %left = atomicrmw sub ptr %asleep, i32 1 seq_cst
  br label %done
done:
  ret void
}

; Wake up to `count` of those who wait for a word that was changed.
define linkonce_odr hidden void @xetune_pool_wake(ptr %word, ptr %asleep, i32 %count) nounwind {
  %sleepers = load atomic i32, ptr %asleep seq_cst, align 4
  %some = icmp ne i32 %sleepers, 0
  br i1 %some, label %wake, label %done
wake:
  %woken = call i64 (i64, ...) @syscall(i64 202, ptr %word, i32 129, i32 %count)
  br label %done
done:
  ret void
}

define linkonce_odr hidden void @xetune_pool_pin(i32 %cpu) nounwind {
  %mask = alloca [16 x i64], align 16
  %known = icmp ult i32 %cpu, 1024
  br i1 %known, label %clear, label %done
clear:
  %i = phi i64 [ 0, %0 ], [ %next, %clear ]
  %word = getelementptr i64, ptr %mask, i64 %i
  store volatile i64 0, ptr %word, align 8
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 16
  br i1 %more, label %clear, label %pin
pin:
  %wide = zext i32 %cpu to i64
  %index = lshr i64 %wide, 6
  %bit = and i64 %wide, 63
  %one = shl i64 1, %bit
  %its = getelementptr i64, ptr %mask, i64 %index
  store i64 %one, ptr %its, align 8
  %pinned = call i64 (i64, ...) @syscall(i64 203, i32 0, i64 128, ptr %mask)
  br label %done
done:
  ret void
}

define linkonce_odr hidden ptr @xetune_pool_thread(ptr %own) nounwind {
  %of_asleep = getelementptr i8, ptr %own, i64 4
  %of_function = getelementptr i8, ptr %own, i64 8
  %of_arguments = getelementptr i8, ptr %own, i64 16
  %of_pool = getelementptr i8, ptr %own, i64 32
  %of_number = getelementptr i8, ptr %own, i64 40
  %of_cpu = getelementptr i8, ptr %own, i64 44
  %pool = load ptr, ptr %of_pool, align 8
  %number = load i32, ptr %of_number, align 4
  %cpu = load i32, ptr %of_cpu, align 4
  call void @xetune_pool_pin(i32 %cpu)
  %of_stop = getelementptr i8, ptr %pool, i64 4
  %of_pending = getelementptr i8, ptr %pool, i64 64
  %of_caller = getelementptr i8, ptr %pool, i64 68
  br label %wait
wait:
  %seen = phi i32 [ 0, %0 ], [ %calls, %work ], [ %calls, %last ]
  call void @xetune_pool_wait(ptr %pool, ptr %own, i32 %seen, ptr %of_asleep)
  %calls = load atomic i32, ptr %own acquire, align 4
  %stop = load i32, ptr %of_stop, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %done, label %work
work:
  %function = load ptr, ptr %of_function, align 8
  %arguments = load ptr, ptr %of_arguments, align 8
  call void %function(ptr %arguments, i32 %number, ptr %pool)
  %pending = atomicrmw sub ptr %of_pending, i32 1 seq_cst
  %is_last = icmp eq i32 %pending, 1
  br i1 %is_last, label %last, label %wait
last:
  call void @xetune_pool_wake(ptr %of_pending, ptr %of_caller, i32 1)
  br label %wait
done:
  ret ptr null
}

; Give the threads but the caller's own a call to make: all of their lines are under way before any is waited for.
define linkonce_odr hidden void @xetune_pool_start(ptr %pool, i32 %threads, ptr %function, ptr %arguments) nounwind {
  %some = icmp sgt i32 %threads, 1
  br i1 %some, label %tell, label %done
tell:
  %i = phi i32 [ 1, %0 ], [ %next, %tell ]
  %wide = zext i32 %i to i64
  %offset = shl i64 %wide, 7
  %from = getelementptr i8, ptr %pool, i64 384
  %own = getelementptr i8, ptr %from, i64 %offset
  %of_function = getelementptr i8, ptr %own, i64 8
  %of_arguments = getelementptr i8, ptr %own, i64 16
  store ptr %function, ptr %of_function, align 8
  store ptr %arguments, ptr %of_arguments, align 8
  %calls = load i32, ptr %own, align 4
  %more = add i32 %calls, 1
  store atomic i32 %more, ptr %own release, align 4
  %next = add i32 %i, 1
  %others = icmp slt i32 %next, %threads
  br i1 %others, label %tell, label %told
told:
  fence seq_cst
  br label %rouse
rouse:
  %j = phi i32 [ 1, %told ], [ %after, %rouse ]
  %jwide = zext i32 %j to i64
  %joffset = shl i64 %jwide, 7
  %jfrom = getelementptr i8, ptr %pool, i64 384
  %its = getelementptr i8, ptr %jfrom, i64 %joffset
  %of_asleep = getelementptr i8, ptr %its, i64 4
  call void @xetune_pool_wake(ptr %its, ptr %of_asleep, i32 1)
  %after = add i32 %j, 1
  %jothers = icmp slt i32 %after, %threads
  br i1 %jothers, label %rouse, label %done
done:
  ret void
}

; Call `function(arguments, number, pool)` in each of `threads` threads, and return when all have.
define linkonce_odr hidden void @xetune_pool_run(ptr %pool, i32 %threads, ptr %function, ptr %arguments) nounwind {
  %alone = icmp eq i32 %threads, 1
  br i1 %alone, label %only, label %start
only:
  call void %function(ptr %arguments, i32 0, ptr %pool)
  ret void
start:
  %of_pending = getelementptr i8, ptr %pool, i64 64
  %of_asleep = getelementptr i8, ptr %pool, i64 68
  %others = sub i32 %threads, 1
  store atomic i32 %others, ptr %of_pending release, align 4
  call void @xetune_pool_start(ptr %pool, i32 %threads, ptr %function, ptr %arguments)
  call void %function(ptr %arguments, i32 0, ptr %pool)
  br label %join
join:
  %pending = load atomic i32, ptr %of_pending acquire, align 4
  %all = icmp eq i32 %pending, 0
  br i1 %all, label %done, label %wait
wait:
  call void @xetune_pool_wait(ptr %pool, ptr %of_pending, i32 %pending, ptr %of_asleep)
  br label %join
done:
  ret void
}

; Return when all `threads` of a call have come here.
define linkonce_odr hidden void @xetune_pool_barrier(ptr %pool, i32 %threads) nounwind {
  %of_count = getelementptr i8, ptr %pool, i64 128
  %of_passed = getelementptr i8, ptr %pool, i64 192
  %of_asleep = getelementptr i8, ptr %pool, i64 196
  %passed = load atomic i32, ptr %of_passed acquire, align 4
  %before = atomicrmw add ptr %of_count, i32 1 acq_rel
  %came = add i32 %before, 1
  %all = icmp eq i32 %came, %threads
  br i1 %all, label %open, label %wait
open:
  store atomic i32 0, ptr %of_count monotonic, align 4
  %next = add i32 %passed, 1
  store atomic i32 %next, ptr %of_passed seq_cst, align 4
  call void @xetune_pool_wake(ptr %of_passed, ptr %of_asleep, i32 2147483647)
  ret void
wait:
  call void @xetune_pool_wait(ptr %pool, ptr %of_passed, i32 %passed, ptr %of_asleep)
  ret void
}

; Tell that `mine` more of `all` things are done, and return when all of them are, however few threads came here. The
; words are zeros first: i64 things that are done, i32 whether all are, i32 threads that sleep until then.
define linkonce_odr hidden void @xetune_pool_gather(ptr %pool, ptr %words, i64 %mine, i64 %all) nounwind {
  %of_complete = getelementptr i8, ptr %words, i64 8
  %of_asleep = getelementptr i8, ptr %words, i64 12
  %before = atomicrmw add ptr %words, i64 %mine acq_rel
  %done = add i64 %before, %mine
  %complete = icmp eq i64 %done, %all
  br i1 %complete, label %open, label %wait
open:
  store atomic i32 1, ptr %of_complete seq_cst, align 8
  call void @xetune_pool_wake(ptr %of_complete, ptr %of_asleep, i32 2147483647)
  ret void
wait:
  call void @xetune_pool_wait(ptr %pool, ptr %of_complete, i32 0, ptr %of_asleep)
  ret void
}

; How long threads look before they sleep: about 200 us, and not at all if there are fewer CPUs than threads. Also keeps
; which CPUs the caller may run on.
define linkonce_odr hidden i64 @xetune_pool_patience(ptr %pool, i32 %threads, ptr %cpus) nounwind {
  %given = alloca [16 x i64], align 16
  %allowed = getelementptr i8, ptr %pool, i64 256
  %bytes = call i64 (i64, ...) @syscall(i64 204, i32 0, i64 128, ptr %allowed)
  %wanted = zext i32 %threads to i64
  %named = icmp ne ptr %cpus, null
  br i1 %named, label %clear, label %begin
clear:
  %c = phi i64 [ 0, %0 ], [ %c_next, %clear ]
  %empty = getelementptr i64, ptr %given, i64 %c
  store volatile i64 0, ptr %empty, align 8
  %c_next = add i64 %c, 1
  %c_more = icmp ult i64 %c_next, 16
  br i1 %c_more, label %clear, label %mark
mark:
  %t = phi i64 [ 0, %clear ], [ %t_next, %marked ]
  %of_cpu = getelementptr i32, ptr %cpus, i64 %t
  %cpu = load i32, ptr %of_cpu, align 4
  %cpu_wide = zext i32 %cpu to i64
  %known = icmp ult i64 %cpu_wide, 1024
  br i1 %known, label %set, label %marked
set:
  %at = lshr i64 %cpu_wide, 6
  %bit = and i64 %cpu_wide, 63
  %one = shl i64 1, %bit
  %its = getelementptr i64, ptr %given, i64 %at
  %old = load i64, ptr %its, align 8
  %new = or i64 %old, %one
  store i64 %new, ptr %its, align 8
  br label %marked
marked:
  %t_next = add i64 %t, 1
  %t_more = icmp ult i64 %t_next, %wanted
  br i1 %t_more, label %mark, label %begin
begin:
  %mask = phi ptr [ %allowed, %0 ], [ %given, %marked ]
  br label %count
count:
  %i = phi i64 [ 0, %begin ], [ %next, %count ]
  %sum = phi i64 [ 0, %begin ], [ %total, %count ]
  %word = getelementptr i64, ptr %mask, i64 %i
  %bits = load i64, ptr %word, align 8
  %ones = call i64 @llvm.ctpop.i64(i64 %bits)
  %total = add i64 %sum, %ones
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 16
  br i1 %more, label %count, label %decide
decide:
  %enough = icmp uge i64 %total, %wanted
  %cycles = select i1 %enough, i64 500000, i64 0
  ret i64 %cycles
}

define linkonce_odr ptr @xetune_pool_create(i32 %threads, ptr %cpus) nounwind {
  %out = alloca ptr, align 8
  %some = icmp sgt i32 %threads, 0
  br i1 %some, label %allocate, label %fail
allocate:
  %wide = zext i32 %threads to i64
  %lines = shl i64 %wide, 7
  %bytes = add i64 %lines, 384
  %error = call i32 @posix_memalign(ptr %out, i64 128, i64 %bytes)
  %got = icmp eq i32 %error, 0
  br i1 %got, label %begin, label %fail
begin:
  %pool = load ptr, ptr %out, align 8
  br label %clear
clear:
  %i = phi i64 [ 0, %begin ], [ %i_next, %clear ]
  %byte = getelementptr i8, ptr %pool, i64 %i
  store volatile i64 0, ptr %byte, align 8
  %i_next = add i64 %i, 8
  %i_more = icmp ult i64 %i_next, %bytes
  br i1 %i_more, label %clear, label %fill
fill:
  %of_cycles = getelementptr i8, ptr %pool, i64 8
  %cycles = call i64 @xetune_pool_patience(ptr %pool, i32 %threads, ptr %cpus)
  store i64 %cycles, ptr %of_cycles, align 8
  store i32 1, ptr %pool, align 4
  %named = icmp ne ptr %cpus, null
  br label %next
next:
  %number = phi i32 [ 1, %fill ], [ %following, %started ]
  %more = icmp slt i32 %number, %threads
  br i1 %more, label %start, label %pin
start:
  %number_wide = zext i32 %number to i64
  br i1 %named, label %look_up, label %prepare
look_up:
  %of_its_cpu = getelementptr i32, ptr %cpus, i64 %number_wide
  %its_cpu = load i32, ptr %of_its_cpu, align 4
  br label %prepare
prepare:
  %cpu = phi i32 [ -1, %start ], [ %its_cpu, %look_up ]
  %offset = shl i64 %number_wide, 7
  %from = getelementptr i8, ptr %pool, i64 384
  %own = getelementptr i8, ptr %from, i64 %offset
  %of_thread = getelementptr i8, ptr %own, i64 24
  %of_pool = getelementptr i8, ptr %own, i64 32
  %of_number = getelementptr i8, ptr %own, i64 40
  %of_cpu = getelementptr i8, ptr %own, i64 44
  store ptr %pool, ptr %of_pool, align 8
  store i32 %number, ptr %of_number, align 4
  store i32 %cpu, ptr %of_cpu, align 4
  %refused = call i32 @pthread_create(ptr %of_thread, ptr null, ptr @xetune_pool_thread, ptr %own)
  %lives = icmp eq i32 %refused, 0
  br i1 %lives, label %started, label %give_up
started:
  %following = add i32 %number, 1
  store i32 %following, ptr %pool, align 4
  br label %next
pin:
  br i1 %named, label %pin_caller, label %done
pin_caller:
  %first = load i32, ptr %cpus, align 4
  %of_pinned = getelementptr i8, ptr %pool, i64 16
  store i32 1, ptr %of_pinned, align 4
  call void @xetune_pool_pin(i32 %first)
  br label %done
done:
  ret ptr %pool
give_up:
  call void @xetune_pool_destroy(ptr %pool)
  br label %fail
fail:
  ret ptr null
}

define linkonce_odr void @xetune_pool_destroy(ptr %pool) nounwind {
  %none = icmp eq ptr %pool, null
  br i1 %none, label %done, label %stop
stop:
  %threads = load i32, ptr %pool, align 4
  %of_stop = getelementptr i8, ptr %pool, i64 4
  store i32 1, ptr %of_stop, align 4
  call void @xetune_pool_start(ptr %pool, i32 %threads, ptr null, ptr null)
  br label %next
next:
  %number = phi i32 [ 1, %stop ], [ %following, %join ]
  %more = icmp slt i32 %number, %threads
  br i1 %more, label %join, label %joined
join:
  %wide = zext i32 %number to i64
  %offset = shl i64 %wide, 7
  %from = getelementptr i8, ptr %pool, i64 408
  %of_thread = getelementptr i8, ptr %from, i64 %offset
  %thread = load i64, ptr %of_thread, align 8
  %error = call i32 @pthread_join(i64 %thread, ptr null)
  %following = add i32 %number, 1
  br label %next
joined:
  %of_pinned = getelementptr i8, ptr %pool, i64 16
  %pinned = load i32, ptr %of_pinned, align 4
  %was = icmp ne i32 %pinned, 0
  br i1 %was, label %restore, label %release
restore:
  %mask = getelementptr i8, ptr %pool, i64 256
  %restored = call i64 (i64, ...) @syscall(i64 203, i32 0, i64 128, ptr %mask)
  br label %release
release:
  call void @free(ptr %pool)
  br label %done
done:
  ret void
}
"""
"""Code of the pool. `create` pins its caller, who is thread number 0, until `destroy`, if it is given CPUs."""

AMX = """\
@xetune_amx_state = linkonce_odr hidden global i32 0, align 4

; Whether Linux lets this process use the tile registers: asked once, as long as it says yes.
define linkonce_odr hidden i1 @xetune_amx_permitted() nounwind {
  %state = load atomic i32, ptr @xetune_amx_state monotonic, align 4
  %known = icmp ne i32 %state, 0
  br i1 %known, label %yes, label %ask
ask:
  %error = call i64 (i64, ...) @syscall(i64 158, i32 4131, i64 18)
  %granted = icmp eq i64 %error, 0
  br i1 %granted, label %keep, label %no
keep:
  store atomic i32 1, ptr @xetune_amx_state monotonic, align 4
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}
"""
"""Asks the Linux kernel for the tile registers: ARCH_REQ_XCOMP_PERM of feature 18."""

POOL_CALLS = """\
declare hidden void @xetune_pool_run(ptr, i32, ptr, ptr)
declare hidden void @xetune_pool_barrier(ptr, i32)
declare hidden void @xetune_pool_gather(ptr, ptr, i64, i64)
declare hidden i1 @xetune_amx_permitted()
"""
"""Declarations of the pool's functions that kernels call."""
