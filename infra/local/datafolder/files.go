package datafolder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/renameio/v2"
)

// WriteFile replaces the file at path atomically, with exactly these permissions. It makes folders that are missing,
// with mode 0700. When it returns, content and name are durable; after a crash, the file is the old one or the new one.
func WriteFile(path string, data []byte, perm os.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithStaticPermissions(perm))
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() { _ = file.Cleanup() }() // the temporary file, after an error
	if _, err := file.Write(data); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return SyncDir(vfs.Default, dir) // renameio does not
}

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
