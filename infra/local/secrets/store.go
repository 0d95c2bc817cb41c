package secrets

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"devplatform/infra/local/stack"
)

// Options say where the secrets are kept and who owns them. Every field but Dir has a default.
type Options struct {
	// Dir is the folder of the secrets' file, made with mode 0700 where it is missing; "" keeps everything in memory.
	Dir string
	// Now is the clock.
	Now func() time.Time
	// Region and Account are those of the ARNs: "us-east-1" and "000000000000" unless set.
	Region, Account string
	Logger          *slog.Logger
}

// Store holds secrets and answers Secrets Manager's API. It is safe for concurrent use.
type Store struct {
	options Options
	path    string // "" in memory

	mu      sync.RWMutex
	secrets []secret // sorted by creation
}

// secret is what is kept of one secret.
type secret struct {
	Name        string    `json:"name"`
	ARN         string    `json:"arn"`
	Description string    `json:"description,omitzero"`
	KMSKeyID    string    `json:"kmsKeyId,omitzero"`
	Tags        []tag     `json:"tags,omitzero"`
	Created     time.Time `json:"created"`
	Changed     time.Time `json:"changed"`
	// Deleted and DeletionDue are set while the secret waits for its deletion.
	Deleted     time.Time `json:"deleted,omitzero"`
	DeletionDue time.Time `json:"deletionDue,omitzero"`
	Versions    []version `json:"versions,omitzero"`
}

type tag struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

// version is one value of a secret. Its value never changes; its labels move.
type version struct {
	ID      string    `json:"id"`
	Stages  []string  `json:"stages,omitzero"`
	Created time.Time `json:"created"`
	Value   value     `json:"value"`
}

// value is a string or bytes.
type value struct {
	String *string `json:"string,omitzero"`
	Binary []byte  `json:"binary,omitzero"`
}

const (
	stageCurrent  = "AWSCURRENT"
	stagePrevious = "AWSPREVIOUS"
)

// Open reads the secrets kept in a folder. A file that isn't whole, or isn't this package's, is an error and stays as it is.
func Open(options Options) (*Store, error) {
	if options.Now == nil {
		return nil, errors.New("secrets: a clock is needed")
	}
	if options.Region == "" {
		options.Region = "us-east-1"
	}
	if options.Account == "" {
		options.Account = "000000000000"
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{options: options}
	if options.Dir == "" {
		return s, nil
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// change runs edit on a copy of the secrets, and keeps the copy once it is on disk.
func (s *Store) change(edit func(*[]secret) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	next := make([]secret, 0, len(s.secrets)+1)
	for _, kept := range s.secrets {
		if kept.due(now) {
			continue
		}
		kept.Versions = slices.Clone(kept.Versions)
		for i := range kept.Versions {
			kept.Versions[i].Stages = slices.Clone(kept.Versions[i].Stages)
		}
		next = append(next, kept)
	}
	if err := edit(&next); err != nil {
		return err
	}
	if err := s.write(next); err != nil {
		s.options.Logger.Error("secrets: write", "error", err)
		return &Error{Type: "InternalServiceError", Message: "An error occurred on the server side.", internal: true}
	}
	s.secrets = next
	return nil
}

func (s *Store) now() time.Time { return s.options.Now().UTC().Truncate(time.Millisecond) }

// due tells whether the secret's time to be restored is over.
func (sec *secret) due(now time.Time) bool {
	return !sec.DeletionDue.IsZero() && !now.Before(sec.DeletionDue)
}

// find gives the secret of an id: its name, its ARN, or its ARN without the six random characters at the end.
func (s *Store) find(secrets []secret, id string) (*secret, error) {
	if id == "" {
		return nil, invalidParameter("You must provide a value for the SecretId parameter.")
	}
	now := s.now()
	name := strings.TrimPrefix(id, arnPrefix(s.options))
	for i := range secrets {
		if !secrets[i].due(now) && (secrets[i].ARN == id || secrets[i].Name == name) {
			return &secrets[i], nil
		}
	}
	return nil, notFound("Secrets Manager can't find the specified secret.")
}

// findAlive is find for operations that a secret marked for deletion refuses.
func (s *Store) findAlive(secrets []secret, id string) (*secret, error) {
	found, err := s.find(secrets, id)
	if err == nil && !found.Deleted.IsZero() {
		return nil, invalidRequest("You can't perform this operation on the secret because it was marked for deletion.")
	}
	return found, err
}

// arnPrefix is an ARN up to the secret's name.
func arnPrefix(o Options) string {
	arn := stack.SecretARN(o.Region, o.Account, "")
	return arn[:strings.LastIndexByte(arn, ':')+1]
}

// newID gives a random UUID, version 4.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}
