package codehost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"devplatform/infra/local/datafolder"
)

const (
	identityFile    = "identities.json"
	identityVersion = 1
	maxEmail        = 254 // bytes
)

var loginPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$`)

// identity is a user that one can sign in as. IDs count from 1 and are never reused, because no identity is deleted.
type identity struct {
	ID       int64  `json:"id"`
	Login    string `json:"login"` // unique, ignoring case
	Email    string `json:"email"`
	Verified bool   `json:"verified"` // whether this provider claims that it has verified the e-mail address
}

// identities holds all identities in the order of their IDs.
type identities struct {
	path string // "": in memory only

	mu    sync.Mutex
	state identityState
}

// identityState is the content of the file.
type identityState struct {
	Version    int        `json:"version"`
	Identities []identity `json:"identities"`
}

func openIdentities(dir string) (*identities, error) {
	s := &identities{state: identityState{Version: identityVersion}}
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
		return nil, fmt.Errorf("codehost: %s is not a valid file of identities (%w); "+
			"move it away to start without identities", s.path, err)
	}
	return s, nil
}

func decodeIdentities(data []byte) (identityState, error) {
	var state identityState
	if err := json.Unmarshal(data, &state); err != nil {
		return state, fmt.Errorf("JSON: %w", err)
	}
	if state.Version != identityVersion {
		return state, fmt.Errorf("version %d is unknown", state.Version)
	}
	logins := make(map[string]bool)
	for i, user := range state.Identities {
		login := strings.ToLower(user.Login)
		if user.ID != int64(i+1) || logins[login] || checkIdentity(user.Login, user.Email) != nil {
			return state, fmt.Errorf("identity %d is not valid", user.ID)
		}
		logins[login] = true
	}
	return state, nil
}

// fieldErrors are the errors of a form, by field.
type fieldErrors map[string]string

func checkIdentity(login, email string) fieldErrors {
	wrong := make(fieldErrors)
	if !loginPattern.MatchString(login) {
		wrong["login"] = "Use 1 to 39 letters, digits, dots, dashes or underscores. Begin with a letter or digit."
	}
	if parsed, err := mail.ParseAddress(email); err != nil || parsed.Address != email || len(email) > maxEmail {
		wrong["email"] = "This is not a valid e-mail address."
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

func (s *identities) find(id int64) (identity, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id < 1 || id > int64(len(s.state.Identities)) {
		return identity{}, false
	}
	return s.state.Identities[id-1], true
}

// put returns the identity with a login after it has set its e-mail address. It creates the identity if it does not
// exist. Login and e-mail address must be valid. When put returns, the identity is on disk.
func (s *identities) put(login, email string, verified bool) (identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.state
	next.Identities = slices.Clone(s.state.Identities)
	i := slices.IndexFunc(next.Identities, func(user identity) bool { return strings.EqualFold(user.Login, login) })
	if i < 0 {
		i = len(next.Identities)
		next.Identities = append(next.Identities, identity{ID: int64(i + 1), Login: login})
	}
	user := &next.Identities[i]
	if user.Email == email && user.Verified == verified {
		return *user, nil
	}
	user.Email, user.Verified = email, verified
	if s.path != "" {
		data, err := json.MarshalIndent(next, "", "  ")
		if err == nil {
			err = datafolder.WriteFile(s.path, append(data, '\n'), 0o600)
		}
		if err != nil {
			return identity{}, fmt.Errorf("codehost: store the identity: %w", err)
		}
	}
	s.state = next
	return *user, nil
}
