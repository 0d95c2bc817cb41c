package datafolder

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Write is a batch that is visible, but may not be durable yet.
type Write struct {
	batch  *pebble.Batch // nil in memory
	folder *Folder
}

// Commit makes a batch visible, and closes it. It also writes an empty batch, because the caller may have read an
// earlier write that is not durable yet.
func (f *Folder) Commit(batch *pebble.Batch) (Write, error) {
	if f.inMemory {
		return Write{}, f.CommitLater(batch)
	}
	var err error
	if batch.Empty() {
		err = batch.LogData(nil, nil)
	}
	if err == nil {
		err = f.DB.ApplyNoSyncWait(batch, pebble.Sync)
	}
	if err != nil {
		return Write{}, errors.Join(fmt.Errorf("writing: %w", err), batch.Close())
	}
	return Write{batch: batch, folder: f}, nil
}

// Wait returns when the write is durable and can be acknowledged. Concurrent writes share a sync of the disk.
func (w Write) Wait() error {
	if w.batch == nil {
		return nil
	}
	if err := errors.Join(w.batch.SyncWait(), w.batch.Close()); err != nil {
		w.folder.failure.report(err.Error()) // Pebble's log accepts no further writes
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}

// CommitLater makes a batch visible, and closes it. It becomes durable later, or is lost in a crash.
func (f *Folder) CommitLater(batch *pebble.Batch) error {
	if err := errors.Join(batch.Commit(pebble.NoSync), batch.Close()); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}

// Update commits the batch that fill has filled, unless it is empty, and waits until it is durable. It returns an error
// of fill unchanged.
func (f *Folder) Update(fill func(batch *pebble.Batch) error) error {
	batch := f.DB.NewBatch()
	if err := fill(batch); err != nil || batch.Empty() {
		_ = batch.Close() // never written
		return err
	}
	write, err := f.Commit(batch)
	if err != nil {
		return err
	}
	return write.Wait()
}
