package datafolder

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// A data folder is a marker file that says whose it is and in which version,
// and a folder of Pebble's. The marker is written first and read first, so that
// nothing is ever opened, or written, that is not ours.
const (
	markerFile  = "FORMAT"
	markerDraft = "FORMAT.draft" // until it is whole
	storeFolder = "store"
)

func (f *Folder) markerText() string { return f.options.Format + "\n" }

// checkFolder accepts a folder with our marker, and makes one of a missing or
// empty folder. Anything else is an error, and nothing was touched.
func (f *Folder) checkFolder() error {
	files, dir := f.options.FS, f.options.Dir
	marker := files.PathJoin(dir, markerFile)
	names, err := files.List(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return f.errorf("reading the data folder: %w", err)
	}
	if len(names) == 0 || len(names) == 1 && names[0] == markerDraft {
		return f.createMarker(marker)
	}
	file, err := files.Open(marker)
	if errors.Is(err, os.ErrNotExist) {
		return f.errorf("%s holds files that are not data of this program: refusing to touch it", dir)
	}
	if err != nil {
		return f.errorf("reading the data folder's format: %w", err)
	}
	want := f.markerText()
	text, err := io.ReadAll(io.LimitReader(file, 2*int64(len(want))))
	if err := errors.Join(err, file.Close()); err != nil {
		return f.errorf("reading the data folder's format: %w", err)
	}
	if string(text) != want {
		return f.errorf("%s has the format %q, this program reads %q: refusing to touch it",
			filepath.Join(dir, markerFile), bytes.TrimSpace(text), f.options.Format)
	}
	return nil
}

// createMarker writes the marker under another name first: after a crash there
// is a whole one or none.
func (f *Folder) createMarker(marker string) error {
	files, dir := f.options.FS, f.options.Dir
	if err := files.MkdirAll(dir, 0o700); err != nil {
		return f.errorf("making the data folder: %w", err)
	}
	draft := files.PathJoin(dir, markerDraft)
	err := CreateFile(files, draft, func(to io.Writer) error {
		_, err := io.WriteString(to, f.markerText())
		return err //nolint:wrapcheck // below
	})
	if err != nil {
		return f.errorf("marking the data folder: %w", err)
	}
	if err := files.Rename(draft, marker); err != nil {
		return f.errorf("marking the data folder: %w", err)
	}
	return errors.Join(f.syncFolder(dir), f.syncFolder(files.PathDir(dir)))
}

// syncFolder makes the names in a folder durable.
func (f *Folder) syncFolder(dir string) error {
	if err := SyncDir(f.options.FS, dir); err != nil {
		return f.errorf("%w", err)
	}
	return nil
}
