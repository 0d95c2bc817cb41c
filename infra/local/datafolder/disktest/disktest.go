// Package disktest has what tests of stores with a data folder need: a disk in memory that runs full, and a process that
// serves a store until it is killed.
package disktest

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Disk is a file system with a number of bytes left to write. As on a real disk, the write that meets the end is made in
// part. What is removed gives no room back: a test says when there is room again.
type Disk struct {
	vfs.FS

	memory *vfs.MemFS
	ending string

	mu   sync.Mutex
	room int
}

// New is an empty disk. Only files with the ending, "" for all, take from its room, in bytes.
func New(room int, ending string) *Disk {
	memory := vfs.NewCrashableMem()
	return &Disk{FS: memory, memory: memory, ending: ending, room: room}
}

// Give adds room.
func (d *Disk) Give(bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room += bytes
}

// Fill takes all the room.
func (d *Disk) Fill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = 0
}

// AfterPowerCut is the disk as a machine finds it that lost its power now: without what was not synced.
func (d *Disk) AfterPowerCut() vfs.FS { return d.memory.CrashClone(vfs.CrashCloneCfg{}) }

// Create implements vfs.FS.
func (d *Disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	inner, err := d.FS.Create(name, category)
	return d.limit(name, inner, err)
}

// ReuseForWrite implements vfs.FS.
func (d *Disk) ReuseForWrite(oldName, newName string, category vfs.DiskWriteCategory) (vfs.File, error) {
	inner, err := d.FS.ReuseForWrite(oldName, newName, category)
	return d.limit(newName, inner, err)
}

func (d *Disk) limit(name string, inner vfs.File, err error) (vfs.File, error) {
	if err != nil || !strings.HasSuffix(name, d.ending) {
		return inner, err
	}
	return &file{inner, d}, nil
}

// Unwrap implements vfs.FS.
func (d *Disk) Unwrap() vfs.FS { return d.FS }

type file struct {
	vfs.File

	disk *Disk
}

// Write writes what there is room for.
func (f *file) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	fits := min(len(p), f.disk.room)
	f.disk.room -= fits
	f.disk.mu.Unlock()
	n, err := f.File.Write(p[:fits])
	if err == nil && fits < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

// Await waits until what a disk does to its user has come about, 30 s at most; what says what that is.
func Await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
