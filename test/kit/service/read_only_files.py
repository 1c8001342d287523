"""Mounts a folder through FUSE. While the switch, a file, exists, every change fails as on a file system that became read-only.

Arguments: folder, mount point, switch.
"""

import errno
import os
import sys

from fusepy import FUSE, FuseOSError, Operations


class Files(Operations):
    def __init__(self, folder, switch):
        self.folder = folder
        self.switch = switch

    def _path(self, path):
        return os.path.join(self.folder, path.lstrip("/"))

    def _change(self):
        if os.path.exists(self.switch):
            raise FuseOSError(errno.EROFS)

    def getattr(self, path, handle=None):
        found = os.lstat(self._path(path))
        names = "st_atime st_ctime st_gid st_ino st_mode st_mtime st_nlink st_size st_uid st_blocks".split()
        return {name: getattr(found, name) for name in names}

    def readdir(self, path, handle):
        return [".", "..", *os.listdir(self._path(path))]

    def statfs(self, path):
        found = os.statvfs(self._path(path))
        names = "f_bavail f_bfree f_blocks f_bsize f_favail f_ffree f_files f_flag f_frsize f_namemax".split()
        return {name: getattr(found, name) for name in names}

    def access(self, path, mode):
        if mode & os.W_OK:
            self._change()

    def open(self, path, flags):
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._change()
        return os.open(self._path(path), flags)

    def read(self, path, size, offset, handle):
        return os.pread(handle, size, offset)

    def release(self, path, handle):
        os.close(handle)

    def flush(self, path, handle):
        pass

    def create(self, path, mode, info=None):
        self._change()
        return os.open(self._path(path), os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode)

    def write(self, path, data, offset, handle):
        self._change()
        return os.pwrite(handle, data, offset)

    def truncate(self, path, length, handle=None):
        self._change()
        os.truncate(self._path(path), length)

    def fsync(self, path, datasync, handle):
        self._change()
        os.fsync(handle)

    def mkdir(self, path, mode):
        self._change()
        os.mkdir(self._path(path), mode)

    def rmdir(self, path):
        self._change()
        os.rmdir(self._path(path))

    def unlink(self, path):
        self._change()
        os.unlink(self._path(path))

    def rename(self, before, after):
        self._change()
        os.rename(self._path(before), self._path(after))

    def chmod(self, path, mode):
        self._change()
        os.chmod(self._path(path), mode)

    def utimens(self, path, times=None):
        self._change()
        os.utime(self._path(path), times)


folder, mount_point, switch = sys.argv[1:]
FUSE(Files(folder, switch), mount_point, foreground=True, nothreads=True, use_ino=True)
