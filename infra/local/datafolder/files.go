package datafolder

import (
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// CreateFile creates a file in a file system and makes its content and its name durable. fill writes the content. After
// an error, no file remains.
func CreateFile(files vfs.FS, path string, fill func(io.Writer) error) error {
	file, err := files.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("creating %s: %w", path, err)
	}
	if err = fill(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = SyncDir(files, files.PathDir(path))
	}
	if err != nil {
		return errors.Join(err, files.Remove(path))
	}
	return nil
}

// SyncDir makes the names in a folder durable.
func SyncDir(files vfs.FS, dir string) error {
	folder, err := files.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}
