// Package disktest has a disk in memory that can be full, and processes that serve a store until they are killed, for
// tests of stores with a data folder.
package disktest

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Disk is a file system to which a number of bytes can be written. As on a real disk, the last write is made in part.
// Removing files does not make room.
type Disk struct {
	vfs.FS

	memory *vfs.MemFS
	ending string

	mu   sync.Mutex
	room int
}

// New returns an empty disk with room for a number of bytes. Only files with the ending need room; "" is all files.
func New(room int, ending string) *Disk {
	memory := vfs.NewCrashableMem()
	return &Disk{FS: memory, memory: memory, ending: ending, room: room}
}

// AddRoom adds room in bytes.
func (d *Disk) AddRoom(bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room += bytes
}

// Fill makes the disk full.
func (d *Disk) Fill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = 0
}

// AfterPowerCut returns a copy of the disk without the writes that were not synced.
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

// Write writes as much as there is room for.
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

// Await waits up to 30 s for a condition, which what describes.
func Await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}
