package datafolder

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// A data folder has a marker file with the format, and the folder of Pebble. The marker is written and read first, so
// that other folders are never changed.
const (
	markerFile  = "FORMAT"
	markerDraft = "FORMAT.draft" // the incomplete marker
	storeFolder = "store"
)

// checkMarker accepts a folder with the marker of this service, and creates the marker if the folder is missing or
// empty.
func (f *Folder) checkMarker() error {
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
		return f.errorf("%s has other files: choose an empty folder", dir)
	}
	if err != nil {
		return f.errorf("reading the data folder: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, 2*int64(len(f.options.Format))))
	if err := errors.Join(err, file.Close()); err != nil {
		return f.errorf("reading the data folder: %w", err)
	}
	if format := bytes.TrimSpace(text); string(format) != f.options.Format {
		return f.errorf("%s has the format %q, this program reads %q: choose another folder",
			marker, format, f.options.Format)
	}
	return nil
}

func (f *Folder) createMarker(marker string) error {
	files, dir := f.options.FS, f.options.Dir
	draft := files.PathJoin(dir, markerDraft)
	err := files.MkdirAll(dir, 0o700)
	if err == nil {
		err = CreateFile(files, draft, func(to io.Writer) error {
			_, err := io.WriteString(to, f.options.Format+"\n")
			return err
		})
	}
	if err == nil {
		err = files.Rename(draft, marker)
	}
	if err == nil {
		err = errors.Join(SyncDir(files, dir), SyncDir(files, files.PathDir(dir)))
	}
	if err != nil {
		return f.errorf("creating the data folder: %w", err)
	}
	return nil
}
