// Package secrets is AWS Secrets Manager for a laptop: the JSON 1.1 protocol over one record in the data folder, with
// AWS's error types.
//
// It has the operations that the platform, its functions and its documents use: secrets with a description and the
// current text value. It rejects everything else by name. A value that was acknowledged survives a kill. Which secrets
// exist does not belong here.
package secrets

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/resources"
)

// Options configure a Store.
type Options = datafolder.ServiceOptions

// Store is one account's Secrets Manager. It is an http.Handler, and safe for concurrent use.
type Store struct {
	options Options
	api     *awsjson.Service

	mutex   sync.RWMutex
	secrets []secret // in order of creation
}

type secret struct {
	Name        string    `json:"name"`
	ARN         string    `json:"arn"`
	Description string    `json:"description,omitzero"`
	Created     time.Time `json:"created"`
	Changed     time.Time `json:"changed"`
	Version     string    `json:"version"` // the ID of the value
	Value       string    `json:"value"`
}

// Open opens the secrets in a folder. It returns an error if the data is damaged.
func Open(options Options) (*Store, error) {
	options.Complete()
	s := &Store{options: options}
	s.api = s.service()
	if options.Folder == nil {
		return s, nil
	}
	stored, err := datafolder.Read(options.Folder.DB, []byte{datafolder.SpaceSecret})
	if err == nil && stored != nil {
		err = json.Unmarshal(stored, &s.secrets)
	}
	if err != nil {
		return nil, options.Folder.DamagedError(err)
	}
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }

// change calls edit with a copy of the secrets, stores the copy, and then replaces the secrets with it.
func (s *Store) change(edit func(*[]secret) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	next := slices.Clone(s.secrets)
	if err := edit(&next); err != nil {
		return err
	}
	if s.options.Folder != nil {
		value, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("encoding the secrets: %w", err)
		}
		err = s.options.Folder.Update(func(batch *pebble.Batch) error {
			return batch.Set([]byte{datafolder.SpaceSecret}, value, nil)
		})
		if err != nil {
			return err
		}
	}
	s.secrets = next
	return nil
}

func (s *Store) now() time.Time { return s.options.Now().UTC().Truncate(time.Millisecond) }

// read returns a copy of the secret with an ID.
func (s *Store) read(id string) (secret, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	found, err := s.find(s.secrets, id)
	if err != nil {
		return secret{}, err
	}
	return *found, nil
}

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
	return nil, &awsjson.Error{
		Type: "ResourceNotFoundException", Message: "Secrets Manager can't find the specified secret.",
	}
}
