package export

import (
	"archive/zip"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"unicode"

	"devplatform/shared/contenttype"
	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
)

// writeArchive writes the files of a snapshot as a zip archive. The same files always result in the same bytes. Errors:
// those of w and of file.Snapshot.Each.
func writeArchive(ctx context.Context, w io.Writer, snapshot *file.Snapshot) error {
	archive := zip.NewWriter(w)
	var next compressor
	archive.RegisterCompressor(zip.Deflate, next.open)
	err := snapshot.Each(ctx, func(f file.File, data io.Reader) error {
		name, err := entryName(f.Path)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: f.UpdatedAt.Time()}
		header.SetMode(0o644)
		next.level = level(f)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err //nolint:wrapcheck // an error of w
		}
		_, err = io.Copy(entry, data)
		return err //nolint:wrapcheck // an error of w or of the snapshot
	})
	if err != nil {
		return err
	}
	return archive.Close() //nolint:wrapcheck // an error of w
}

// entryName returns the name of a file in an archive: its path without the leading slash. It returns an error for a
// path that no file can have. A name must not begin with a drive letter, such as C:, because programs for Windows would
// take it for an absolute path.
func entryName(p string) (string, error) {
	if rule := path.Check(p); rule != "" {
		return "", fmt.Errorf("export: the path of a file %s", rule)
	}
	name := p[1:]
	if len(name) > 1 && name[1] == ':' && name[0] <= unicode.MaxASCII && unicode.IsLetter(rune(name[0])) {
		name = "./" + name
	}
	return name, nil
}

// isCompressed has the content types that cannot be compressed further.
var isCompressed = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true,
	"font/woff": true, "font/woff2": true, "audio/mpeg": true, "audio/ogg": true, "video/mp4": true, "video/webm": true,
	"application/zip": true, "application/gzip": true,
}

// level returns the level of compression of a file. Files that are compressed already are stored in blocks of the
// deflate format. They do not use the method Store, because some programs cannot read it from an archive that was
// written as a stream.
func level(f file.File) int {
	if isCompressed[contenttype.Of(f.Path, f.Encoding == file.UTF8)] {
		return flate.NoCompression
	}
	return flate.DefaultCompression
}

// compressor compresses the entries of an archive one after another. It has one flate.Writer for each level, because
// each of them needs much memory.
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
