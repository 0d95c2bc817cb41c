package export

import (
	"archive/zip"
	"compress/flate"
	"context"
	"io"
	"strings"
	"time"

	"devplatform/shared/contenttype"
	"devplatform/shared/project/file"
)

// listHeader is the beginning of the entry that lists the renamed files.
const listHeader = "Not every system can store the names of these files, so they have other names in this archive.\n" +
	"Each line has the path in the project, a tab, and the name in this archive.\n\n"

// writeArchive writes the files of a snapshot as a zip archive, and the list of the renamed files, if there are any.
// The same files always result in the same bytes. Errors: the errors of w, newEntryNames and file.Snapshot.Each.
func writeArchive(ctx context.Context, w io.Writer, snapshot *file.Snapshot) error {
	paths := make([]string, len(snapshot.Files))
	for i, f := range snapshot.Files {
		paths[i] = f.Path
	}
	names, err := newEntryNames(paths)
	if err != nil {
		return err
	}
	a := zipWriter{Writer: zip.NewWriter(w)}
	a.RegisterCompressor(zip.Deflate, a.compressor.open)
	var latest time.Time
	err = snapshot.Each(ctx, func(f file.File, data io.Reader) error {
		if at := f.UpdatedAt.Time(); at.After(latest) {
			latest = at
		}
		return a.add(names.of(f.Path), f.UpdatedAt.Time(), compressionLevel(f), data)
	})
	if err == nil && names.list != "" {
		err = a.add(names.listName, latest, flate.DefaultCompression, strings.NewReader(listHeader+names.list))
	}
	if err != nil {
		return err
	}
	return a.Close()
}

// zipWriter writes the entries of a zip archive.
type zipWriter struct {
	*zip.Writer

	compressor compressor
}

// add writes a file with a level of compression.
func (a *zipWriter) add(name string, modified time.Time, level int, data io.Reader) error {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: modified}
	header.SetMode(0o644)
	a.compressor.level = level
	entry, err := a.CreateHeader(header)
	if err != nil {
		return err
	}
	_, err = io.Copy(entry, data)
	return err
}

// compressedTypes are the content types whose files cannot be compressed further.
var compressedTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true,
	"font/woff": true, "font/woff2": true, "audio/mpeg": true, "audio/ogg": true, "video/mp4": true, "video/webm": true,
	"application/zip": true, "application/gzip": true,
}

// compressionLevel returns the level of compression of a file. Files that are compressed already are stored in blocks
// of the deflate format. They do not use the method Store, because some programs cannot read it from an archive that
// was written as a stream.
func compressionLevel(f file.File) int {
	if compressedTypes[contenttype.Of(f.Path, f.Encoding == file.UTF8)] {
		return flate.NoCompression
	}
	return flate.DefaultCompression
}

// compressor compresses the entries of an archive one after another. It reuses one flate.Writer for each level, because
// a flate.Writer needs much memory.
type compressor struct {
	level   int // of the next entry
	writers map[int]*flate.Writer
}

func (c *compressor) open(w io.Writer) (io.WriteCloser, error) {
	if writer := c.writers[c.level]; writer != nil {
		writer.Reset(w)
		return writer, nil
	}
	writer, err := flate.NewWriter(w, c.level)
	if c.writers == nil {
		c.writers = map[int]*flate.Writer{}
	}
	c.writers[c.level] = writer
	return writer, err //nolint:wrapcheck // the levels are valid
}
