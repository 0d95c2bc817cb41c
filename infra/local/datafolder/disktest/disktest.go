// Package disktest has a disk in memory that can be full, and processes that serve a service until they are killed, for
// tests of services with a data folder.
package disktest

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"devplatform/infra/local/datafolder"
)

// Open opens a data folder. files is the file system, nil is the real one. The test closes the folder.
func Open(t testing.TB, dir string, files vfs.FS) *datafolder.Folder {
	t.Helper()
	folder, err := datafolder.Open(datafolder.Options{Dir: dir, FS: files})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// Disk is a file system in memory. After Fill, it is full.
type Disk struct {
	vfs.FS

	memory *vfs.MemFS
	full   atomic.Bool
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	d := &Disk{memory: vfs.NewCrashableMem()}
	d.FS = errorfs.Wrap(d.memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		writes := op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if writes && d.full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}))
	return d
}

// Fill makes the disk full.
func (d *Disk) Fill() { d.full.Store(true) }

// AfterPowerCut returns a copy of the disk, with space and without the writes that were not synced.
func (d *Disk) AfterPowerCut() vfs.FS { return d.memory.CrashClone(vfs.CrashCloneCfg{}) }

// Service is a service with its data in a folder.
type Service interface{ Close() error }

// TestFull opens a service with open, calls prepare, and fills the disk. Then it checks that a write fails the folder
// with a clear error, that later requests fail, and that the service can be closed. check gets the service that is
// opened after a power cut, when there is space again.
func TestFull[S Service](
	t *testing.T, open func(*datafolder.Folder) (S, error), prepare func(S), write func(S) (status int), check func(S),
) {
	t.Helper()
	disk, failed := NewDisk(), make(chan error, 2)
	folder, err := datafolder.Open(datafolder.Options{Dir: "/data", FS: disk, Failed: func(err error) { failed <- err }})
	if err != nil {
		t.Fatal(err)
	}
	service, err := open(folder)
	if err != nil {
		t.Fatal(err)
	}
	prepare(service)
	disk.Fill()
	go write(service) // may get no response
	err = <-failed
	if !strings.Contains(err.Error(), "the data in /data cannot be written: no space left on device") {
		t.Errorf("reported %v", err)
	}
	if status := write(service); status < 500 {
		t.Errorf("then a write got the status %d", status)
	}
	if err := errors.Join(service.Close(), folder.Close()); err != nil {
		t.Errorf("closing: %v", err)
	}
	if len(failed) > 0 {
		t.Errorf("reported again: %v", <-failed)
	}
	folder = Open(t, "/data", disk.AfterPowerCut())
	again, err := open(folder)
	if err != nil {
		t.Fatal(err)
	}
	check(again)
	if err := errors.Join(again.Close(), folder.Close()); err != nil {
		t.Error(err)
	}
}
