package secrets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	fileName   = "secrets.json"
	fileFormat = "local-secretsmanager/1"
)

// content is the file: the checksum is over the compact form of Secrets.
type content struct {
	Format   string         `json:"format"`
	Checksum string         `json:"sha256"`
	Secrets  jsontext.Value `json:"secrets"`
}

func (s *Store) open() error {
	if err := os.MkdirAll(s.options.Dir, 0o700); err != nil {
		return fmt.Errorf("secrets: %w", err)
	}
	s.path = filepath.Join(s.options.Dir, fileName)
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("secrets: %w", err)
	}
	loaded, err := decode(raw)
	if err != nil {
		return fmt.Errorf("secrets: %s is damaged or not a secrets file (%w); it was left as it is: restore it, or move it away to begin anew", s.path, err)
	}
	if err := os.Chmod(s.path, 0o600); err != nil {
		return fmt.Errorf("secrets: %w", err)
	}
	s.secrets = loaded
	return nil
}

func decode(raw []byte) ([]secret, error) {
	var file content
	if err := json.Unmarshal(raw, &file, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.New("no valid JSON of the kind")
	}
	if file.Format != fileFormat {
		return nil, fmt.Errorf("format %q, not %q", file.Format, fileFormat)
	}
	if err := file.Secrets.Compact(); err != nil || checksum(file.Secrets) != file.Checksum {
		return nil, errors.New("wrong checksum")
	}
	var loaded []secret
	if err := json.Unmarshal(file.Secrets, &loaded, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.New("unknown content")
	}
	return loaded, nil
}

func checksum(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// write replaces the file as a whole: at every moment either the old or the new one is there.
func (s *Store) write(secrets []secret) error {
	if s.path == "" {
		return nil
	}
	body, err := json.Marshal(secrets, json.FormatNilSliceAsNull(false))
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	raw, err := json.Marshal(content{Format: fileFormat, Checksum: checksum(body), Secrets: body}, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	temporary := s.path + ".new"
	if err := writeSynced(temporary, raw); err != nil {
		return err
	}
	if err := os.Rename(temporary, s.path); err != nil {
		return fmt.Errorf("replace the file: %w", err)
	}
	dir, err := os.Open(s.options.Dir)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	return nil
}

func writeSynced(path string, raw []byte) error {
	// What a kill left behind may have been made with other rights.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an unfinished file: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is the store's own
	if err != nil {
		return fmt.Errorf("create the file: %w", err)
	}
	_, err = file.Write(append(raw, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}
