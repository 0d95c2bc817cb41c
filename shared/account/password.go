package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

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

// DefaultHashParams is OWASP's second recommendation: 19 MiB, two passes, one lane.
func DefaultHashParams() HashParams {
	return HashParams{MemoryKiB: 19 * 1024, Time: 2, Threads: 1, SaltBytes: 16, KeyBytes: 32}
}

// Bounds on what a stored hash may ask for, so that a damaged record can't take the function's memory with it.
const (
	maxHashMemoryKiB = 256 * 1024
	maxHashTime      = 64
	maxHashThreads   = 16
	maxHashBytes     = 128
)

// errHashFormat reports a stored password hash that isn't an Argon2id PHC string of version 19.
var errHashFormat = errors.New("account: malformed password hash")

// Hasher computes and checks password hashes, at most a fixed number at the same time: each one takes the memory that
// its parameters name, and parallel logins must not add up to more than a function has. It is safe for concurrent use.
type Hasher struct {
	params   HashParams
	slots    chan struct{}
	computed atomic.Int64
}

// NewHasher returns a Hasher that computes at most parallel hashes at once.
func NewHasher(params HashParams, parallel int) *Hasher {
	return &Hasher{params: params, slots: make(chan struct{}, max(parallel, 1))}
}

// Computed says how many hashes were computed so far. Equal work for known and unknown e-mails is tested with it.
func (h *Hasher) Computed() int64 { return h.computed.Load() }

// Hash returns the PHC string of password under a fresh salt. It waits for a free slot; the error is ctx's.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, h.params.SaltBytes)
	_, _ = rand.Read(salt) // never fails: crypto/rand ends the program instead
	key, err := h.derive(ctx, password, salt, h.params)
	if err != nil {
		return "", err
	}
	return formatHash(h.params, salt, key), nil
}

// Verdict is what checking a password says.
type Verdict struct {
	OK       bool // the password is the right one
	Outdated bool // its hash was made with other parameters than today's
}

// Verify compares password with a stored hash in constant time. With an empty hash (no such account, or one without a
// password) it does the same work and the verdict is always negative, so that time doesn't tell who has an account.
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

func (h *Hasher) derive(ctx context.Context, password string, salt []byte, p HashParams) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to hash a password: %w", ctx.Err())
	}
	defer func() { <-h.slots }()
	h.computed.Add(1)
	return argon2.IDKey([]byte(password), salt, p.Time, p.MemoryKiB, p.Threads, uint32(p.KeyBytes)), nil //nolint:gosec // bounded by maxHashBytes
}

// formatHash writes the PHC string format: $argon2id$v=19$m=…,t=…,p=…$salt$key with unpadded base64.
func formatHash(p HashParams, salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.MemoryKiB, p.Time, p.Threads,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

func parseHash(s string) (p HashParams, salt, key []byte, err error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return HashParams{}, nil, nil, errHashFormat
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.MemoryKiB, &p.Time, &p.Threads); err != nil {
		return HashParams{}, nil, nil, fmt.Errorf("%w: parameters: %w", errHashFormat, err)
	}
	b64 := base64.RawStdEncoding.Strict()
	if salt, err = b64.DecodeString(parts[4]); err != nil {
		return HashParams{}, nil, nil, fmt.Errorf("%w: salt: %w", errHashFormat, err)
	}
	if key, err = b64.DecodeString(parts[5]); err != nil {
		return HashParams{}, nil, nil, fmt.Errorf("%w: key: %w", errHashFormat, err)
	}
	p.SaltBytes, p.KeyBytes = len(salt), len(key)
	// Formatting it again must give the same text: this refuses signs, leading zeros and anything after the numbers.
	if !p.plausible() || formatHash(p, salt, key) != s {
		return HashParams{}, nil, nil, errHashFormat
	}
	return p, salt, key, nil
}

func (p HashParams) plausible() bool {
	return p.MemoryKiB >= 8 && p.MemoryKiB <= maxHashMemoryKiB && p.Time >= 1 && p.Time <= maxHashTime &&
		p.Threads >= 1 && p.Threads <= maxHashThreads &&
		p.SaltBytes >= 8 && p.SaltBytes <= maxHashBytes && p.KeyBytes >= 16 && p.KeyBytes <= maxHashBytes
}
