package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// HashParams are the cost parameters of Argon2id (RFC 9106 §3.1).
type HashParams struct {
	MemoryKiB uint32
	Time      uint32 // passes over the memory
	Threads   uint8
	SaltBytes int
	KeyBytes  int
}

// DefaultHashParams returns parameters that OWASP recommends: 19 MiB of memory, two passes, one thread.
func DefaultHashParams() HashParams {
	return HashParams{MemoryKiB: 19 * 1024, Time: 2, Threads: 1, SaltBytes: 16, KeyBytes: 32}
}

// The largest accepted parameters of a stored hash. They prevent a damaged record from exhausting the memory.
const (
	maxHashMemoryKiB = 256 * 1024
	maxHashTime      = 64 // passes
	maxHashThreads   = 16
	maxHashBytes     = 128 // of the salt and of the key
)

// errHashFormat reports a stored password hash that is not an Argon2id PHC string of version 19.
var errHashFormat = errors.New("password: malformed password hash")

// Hasher computes and verifies hashes of passwords, which it normalizes. It limits the number of computations that run
// at the same time, because each one allocates HashParams.MemoryKiB. It is safe for concurrent use.
type Hasher struct {
	params HashParams
	slots  chan struct{}
	// Argon2 is argon2.IDKey, unless a test replaces it.
	Argon2 func(password, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte
}

// NewHasher returns a Hasher that computes at most parallel hashes at the same time, and at least one.
func NewHasher(params HashParams, parallel int) *Hasher {
	return &Hasher{params: params, slots: make(chan struct{}, max(parallel, 1)), Argon2: argon2.IDKey}
}

// Hash returns the PHC string of password with a new salt. It waits for a free slot. If ctx is done first, it returns
// the error of ctx.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, h.params.SaltBytes)
	_, _ = rand.Read(salt) // never returns an error
	key, err := h.derive(ctx, password, salt, h.params)
	if err != nil {
		return "", err
	}
	return formatHash(h.params, salt, key), nil
}

// Verdict is the result of Verify.
type Verdict struct {
	OK       bool // the password is correct
	Outdated bool // the parameters of the hash differ from the parameters of the Hasher
}

// Verify compares password with a stored hash in constant time. An empty hash means that there is no such account, or
// that it has no password. Verify then does the same work and reports a wrong password, so that the response time does
// not reveal who has an account.
func (h *Hasher) Verify(ctx context.Context, stored, password string) (Verdict, error) {
	if stored == "" {
		_, err := h.derive(ctx, password, make([]byte, h.params.SaltBytes), h.params)
		return Verdict{}, err
	}
	params, salt, want, err := parseHash(stored)
	if err != nil {
		return Verdict{}, err
	}
	got, err := h.derive(ctx, password, salt, params)
	if err != nil {
		return Verdict{}, err
	}
	return Verdict{OK: subtle.ConstantTimeCompare(got, want) == 1, Outdated: params != h.params}, nil
}

// derive waits for a free slot and computes the hash of the normalized password. If ctx is done first, it returns the
// error of ctx.
func (h *Hasher) derive(ctx context.Context, password string, salt []byte, p HashParams) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to hash a password: %w", ctx.Err())
	}
	defer func() { <-h.slots }()
	keyBytes := uint32(p.KeyBytes) //nolint:gosec // at most maxHashBytes
	return h.Argon2([]byte(normalize(password)), salt, p.Time, p.MemoryKiB, p.Threads, keyBytes), nil
}

// formatHash returns the PHC string: $argon2id$v=19$m=…,t=…,p=…$salt$key with unpadded base64.
func formatHash(p HashParams, salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.MemoryKiB, p.Time, p.Threads,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

// parseHash is the inverse of formatHash. Error: errHashFormat.
func parseHash(s string) (p HashParams, salt, key []byte, err error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 {
		return HashParams{}, nil, nil, errHashFormat
	}
	_, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.MemoryKiB, &p.Time, &p.Threads)
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	key, keyErr := base64.RawStdEncoding.DecodeString(parts[5])
	p.SaltBytes, p.KeyBytes = len(salt), len(key)
	// The formatted result must equal s. This rejects another algorithm, signs, leading zeros, and other texts.
	if errors.Join(err, saltErr, keyErr) != nil || !p.areAllowed() || formatHash(p, salt, key) != s {
		return HashParams{}, nil, nil, errHashFormat
	}
	return p, salt, key, nil
}

// areAllowed reports whether a stored hash may have the parameters.
func (p HashParams) areAllowed() bool {
	return p.MemoryKiB >= 8 && p.MemoryKiB <= maxHashMemoryKiB && p.Time >= 1 && p.Time <= maxHashTime &&
		p.Threads >= 1 && p.Threads <= maxHashThreads &&
		p.SaltBytes >= 8 && p.SaltBytes <= maxHashBytes && p.KeyBytes >= 16 && p.KeyBytes <= maxHashBytes
}
