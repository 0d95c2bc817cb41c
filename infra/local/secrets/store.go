// Package secrets is AWS Secrets Manager for a laptop: the JSON 1.1 protocol over a store in one file, with AWS's error
// types.
//
// It has the operations that the platform, its functions and its documents use: secrets with a description and a text
// value, the current and the previous version. It rejects everything else by name. A value that was acknowledged
// survives a kill. Only the owner can read the file. Which secrets exist does not belong here.
package secrets

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/resources"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Options configure a Store. Every field but Now has a default.
type Options struct {
	Dir             string           // made if it is missing; "" keeps everything in memory
	Now             func() time.Time // the clock
	Region, Account string           // of ARNs; by default "us-east-1" and "000000000000"
	Logger          *slog.Logger     // by default, nothing is logged
}

// Store is one account's Secrets Manager. It is an http.Handler, and safe for concurrent use.
type Store struct {
	options Options
	api     *awsjson.Service
	path    string // "" in memory

	mutex   sync.RWMutex
	secrets []secret // in order of creation
}

// secret is the stored form of a secret.
type secret struct {
	Name        string    `json:"name"`
	ARN         string    `json:"arn"`
	Description string    `json:"description,omitzero"`
	Created     time.Time `json:"created"`
	Changed     time.Time `json:"changed"`
	Versions    []version `json:"versions,omitzero"` // oldest first
}

// version is one value of a secret. The value never changes.
type version struct {
	ID      string    `json:"id"`
	Stages  []string  `json:"stages,omitzero"`
	Created time.Time `json:"created"`
	Value   value     `json:"value"`
}

type value struct {
	Text *string `json:"string,omitzero"`
}

const (
	fileName   = "secrets.json"
	fileFormat = "local-secretsmanager/1"
)

// file is the content of the file. Checksum is the checksum of the compact form of Secrets.
type file struct {
	Format   string         `json:"format"`
	Checksum string         `json:"sha256"`
	Secrets  jsontext.Value `json:"secrets"`
}

// Open opens the secrets in a folder. It returns an error and leaves the file as it is if the file is damaged.
func Open(options Options) (*Store, error) {
	if options.Now == nil {
		return nil, errors.New("secrets: Options.Now is required")
	}
	options.Region = cmp.Or(options.Region, "us-east-1")
	options.Account = cmp.Or(options.Account, "000000000000")
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	s := &Store{options: options}
	s.api = s.service()
	if options.Dir == "" {
		return s, nil
	}
	s.path = filepath.Join(options.Dir, fileName)
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		s.secrets, err = decode(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("secrets: cannot read %s: %w; the file was not changed: "+
			"restore it from a backup, or move it away to start without secrets", s.path, err)
	}
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }

func decode(raw []byte) ([]secret, error) {
	var content file
	if err := json.Unmarshal(raw, &content, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.New("it is damaged or not a file of secrets")
	}
	if content.Format != fileFormat {
		return nil, fmt.Errorf("its format is %q, not %q", content.Format, fileFormat)
	}
	if err := content.Secrets.Compact(); err != nil || checksum(content.Secrets) != content.Checksum {
		return nil, errors.New("it is damaged: its checksum is wrong")
	}
	var secrets []secret
	if err := json.Unmarshal(content.Secrets, &secrets); err != nil {
		return nil, errors.New("it is damaged or not a file of secrets")
	}
	return secrets, nil
}

func checksum(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func (s *Store) write(secrets []secret) error {
	if s.path == "" {
		return nil
	}
	body, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("encoding the secrets: %w", err)
	}
	content := file{Format: fileFormat, Checksum: checksum(body), Secrets: body}
	var raw bytes.Buffer
	if err := json.MarshalWrite(&raw, content, jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("encoding the secrets: %w", err)
	}
	raw.WriteByte('\n')
	return datafolder.WriteFile(s.path, raw.Bytes(), 0o600)
}

// change calls edit with a copy of the secrets, writes the copy to disk, and then replaces the secrets with it.
func (s *Store) change(edit func(*[]secret) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	next := slices.Clone(s.secrets)
	for i := range next {
		next[i].Versions = slices.Clone(next[i].Versions)
	}
	if err := edit(&next); err != nil {
		return err
	}
	if err := s.write(next); err != nil {
		return err
	}
	s.secrets = next
	return nil
}

func (s *Store) now() time.Time { return s.options.Now().UTC().Truncate(time.Millisecond) }

// find returns the secret with an ID: its name, its ARN, or its ARN without the six random characters at the end.
func (s *Store) find(secrets []secret, id string) (*secret, error) {
	if id == "" {
		return nil, invalidParameter("You must provide a value for the SecretId parameter.")
	}
	arn := resources.SecretARN(s.options.Region, s.options.Account, "")
	name := strings.TrimPrefix(id, arn[:strings.LastIndexByte(arn, ':')+1])
	for i := range secrets {
		if secrets[i].ARN == id || secrets[i].Name == name {
			return &secrets[i], nil
		}
	}
	return nil, notFound("Secrets Manager can't find the specified secret.")
}
