package s3

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"devplatform/infra/local/datafolder"
)

// files stores contents in a folder. Each content is a file with a random name, which never changes.
type files struct {
	fs  vfs.FS
	dir string
}

// write creates a file and makes it durable. fill writes the content. If fill or the write fails, no file remains.
func (f files) write(fill func(io.Writer) error) (name string, err error) {
	name = rand.Text()
	return name, datafolder.CreateFile(f.fs, f.fs.PathJoin(f.dir, name), fill)
}

func (f files) open(name string) (vfs.File, error) {
	file, err := f.fs.Open(f.fs.PathJoin(f.dir, name))
	if err != nil {
		return nil, fmt.Errorf("open a content: %w", err)
	}
	return file, nil
}

// remove removes files to which the index no longer refers. A file that cannot be removed now is removed when the store
// is opened the next time. Empty names are skipped.
func (f files) remove(names ...string) {
	for _, name := range names {
		if name != "" {
			_ = f.fs.Remove(f.fs.PathJoin(f.dir, name))
		}
	}
}

// removeUnfinished creates the folder if it does not exist, and removes the files to which no object refers.
func (s *Store) removeUnfinished() error {
	f, unused := s.files, map[string]bool{}
	err := f.fs.MkdirAll(f.dir, 0o700)
	names, listErr := f.fs.List(f.dir)
	for _, name := range names {
		unused[name] = true
	}
	err = errors.Join(err, scan(s, indexKey(datafolder.SpaceObject), "", func(_ string, o object) (string, error) {
		delete(unused, o.File)
		return "", nil
	}))
	if err := errors.Join(err, listErr, datafolder.SyncDir(f.fs, f.fs.PathDir(f.dir))); err != nil {
		return err
	}
	f.remove(slices.Collect(maps.Keys(unused))...)
	return nil
}
