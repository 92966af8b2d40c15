"""The volume of a memory, with power that can fail and room that can end (DESIGN §5, §6).

A file system in user space (FUSE) lies under the memory's data volume. A process of its own keeps
what the memory sees and, beside it, what a disk would still have after a loss of power.

What survives a loss of power, here:

- the content of a file as of its last fsync, fdatasync, or write to a file opened with O_SYNC or
  O_DSYNC; its size with it;
- the names of a file, as they were when it was last synced (fsync of a file persists its own
  creation and renames, as ext4, XFS and btrfs do, which is more than POSIX asks of them), with the
  names of the directories above it;
- every name in a directory, as of the last fsync of that directory;
- the content of a file that replaced another one by rename, from the moment that the rename itself
  survives (ext4's `auto_da_alloc`).

Everything else is gone: writes, truncations, creations, renames and removals alike, as if nothing
had reached the disk by itself. Real disks may keep any part of it: losing all of it is one outcome
among those, and the only one that is tried. So nothing is claimed of writes that arrive in another
order or by halves, except where a case cuts one write and says so. ext4's journal makes names of
other files durable with any sync; that is not relied on. Modes, owners and times are never lost.

The kernel does not tell a file system in user space of sync(2) and syncfs(2): what relies on them
alone is lost here.
"""
