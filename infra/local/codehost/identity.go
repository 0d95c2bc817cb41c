package codehost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	identityFile    = "identities.json"
	identityVersion = 1
	maxEmail        = 254 // bytes
)

var loginPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$`)

// identity is somebody who can be signed in as. The id is never used for another.
type identity struct {
	ID       int64  `json:"id"`
	Login    string `json:"login"` // unique, whatever its case
	Email    string `json:"email"`
	Verified bool   `json:"verified"` // whether this provider claims to have verified the e-mail
}

// identities are all of them, in the order of their ids.
type identities struct {
	path string // empty: in memory only

	mu    sync.Mutex
	state identityState
}

type identityState struct {
	Version    int        `json:"version"`
	NextID     int64      `json:"nextId"`
	Identities []identity `json:"identities"`
}

var errUnknownIdentity = errors.New("there is no such identity")

func openIdentities(dir string) (*identities, error) {
	s := &identities{state: identityState{Version: identityVersion, NextID: 1}}
	if dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("codehost: %w", err)
	}
	s.path = filepath.Join(dir, identityFile)
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("codehost: %w", err)
	}
	if s.state, err = decodeIdentities(data); err != nil {
		return nil, fmt.Errorf("codehost: %s is not an identities file of this program (%w); it was left as it is", s.path, err)
	}
	return s, nil
}

func decodeIdentities(data []byte) (identityState, error) {
	var state identityState
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&state); err != nil {
		return state, fmt.Errorf("JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return state, errors.New("something follows its end")
	}
	if state.Version != identityVersion {
		return state, fmt.Errorf("version %d", state.Version)
	}
	logins := make(map[string]bool)
	last := int64(0)
	for _, who := range state.Identities {
		login := strings.ToLower(who.Login)
		if who.ID <= last || who.ID >= state.NextID || logins[login] || checkIdentity(who.Login, who.Email) != nil {
			return state, fmt.Errorf("identity %d does not hold", who.ID)
		}
		logins[login], last = true, who.ID
	}
	if state.NextID <= last {
		return state, fmt.Errorf("next id %d", state.NextID)
	}
	return state, nil
}

// fieldErrors are what is wrong with a form, by field.
type fieldErrors map[string]string

func checkIdentity(login, email string) fieldErrors {
	wrong := make(fieldErrors)
	if !loginPattern.MatchString(login) {
		wrong["login"] = "1 to 39 letters, digits, dots, dashes or underscores; a letter or digit first."
	}
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || len(email) > maxEmail {
		wrong["email"] = "This is not an e-mail address."
	}
	if len(wrong) == 0 {
		return nil
	}
	return wrong
}

// all returns the identities sorted by login.
func (s *identities) all() []identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	sorted := slices.Clone(s.state.Identities)
	slices.SortFunc(sorted, func(a, b identity) int {
		return strings.Compare(strings.ToLower(a.Login), strings.ToLower(b.Login))
	})
	return sorted
}

func (s *identities) byID(id int64) (identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.state.Identities, func(who identity) bool { return who.ID == id })
	if i < 0 {
		return identity{}, errUnknownIdentity
	}
	return s.state.Identities[i], nil
}

// put returns the identity of that login, with that e-mail from now on, or makes it. Login and e-mail have been checked.
// When it returns, the identity is on disk.
func (s *identities) put(login, email string, verified bool) (identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.state
	next.Identities = slices.Clone(s.state.Identities)
	i := slices.IndexFunc(next.Identities, func(who identity) bool { return strings.EqualFold(who.Login, login) })
	if i < 0 {
		i = len(next.Identities)
		next.Identities = append(next.Identities, identity{ID: next.NextID, Login: login})
		next.NextID++
	}
	who := &next.Identities[i]
	if who.Email == email && who.Verified == verified {
		return *who, nil
	}
	who.Email, who.Verified = email, verified
	if err := save(s.path, next); err != nil {
		return identity{}, err
	}
	s.state = next
	return *who, nil
}

// save replaces the file as a whole: after a crash it is the old one or the new one.
func save(path string, state identityState) (err error) {
	if path == "" {
		return nil
	}
	data, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return fmt.Errorf("codehost: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), identityFile+".*.tmp") // mode 0600
	if err != nil {
		return fmt.Errorf("codehost: %w", err)
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("codehost: %w", err)
	}
	if err = errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("codehost: %w", err)
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("codehost: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path) //nolint:gosec // the configured folder
	if err != nil {
		return fmt.Errorf("codehost: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("codehost: %w", err)
	}
	return nil
}
