// Package id generates and validates the service's IDs: a prefix that names the kind, an underscore and a ULID, such
// as usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK. For clients they are opaque.
package id

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"devplatform/shared/clock"
)

// Kind is the kind of resource that an ID identifies. It is also the ID's prefix.
type Kind string

// The kinds of IDs.
const (
	User         Kind = "usr"
	Workspace    Kind = "ws"
	Project      Kind = "prj"
	Conversation Kind = "cnv"
	Message      Kind = "msg"
	Webhook      Kind = "wh"
	Event        Kind = "evt"
	Delivery     Kind = "dlv"
	Comment      Kind = "cmt"
	Session      Kind = "ses"
	Identity     Kind = "idn"
	Upload       Kind = "upl"
	Export       Kind = "exp"
	Deployment   Kind = "dpl"
	Invitation   Kind = "inv"
	Mail         Kind = "mail"
	Activity     Kind = "act"
)

// Valid reports whether s is an ID of kind k in canonical form: not of another kind, not in lower case, and with
// nothing before or after it.
func (k Kind) Valid(s string) bool {
	rest, ok := strings.CutPrefix(s, string(k)+"_")
	if !ok {
		return false
	}
	u, err := ulid.ParseStrict(rest)
	// ParseStrict also accepts lower case, and letters that Crockford's base32 treats as aliases of other characters.
	return err == nil && u.String() == rest
}

// From returns the ID of kind k that consists of t, truncated to milliseconds, and 80 bits of entropy. The same
// arguments always result in the same ID.
func (k Kind) From(t time.Time, entropy [10]byte) string {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(t)) // fails before 1970 and after the year 10889: the time remains 0
	_ = u.SetEntropy(entropy[:])     // fails only if the length is not 10
	return string(k) + "_" + u.String()
}

// Time returns the time in an ID of kind k, with a precision of milliseconds. It reports false if s is not an ID of
// kind k.
func (k Kind) Time(s string) (time.Time, bool) {
	if !k.Valid(s) {
		return time.Time{}, false
	}
	return ulid.Time(ulid.MustParse(s[len(k)+1:]).Time()).UTC(), true
}

// Next returns the ID of kind k that sorts directly after s. It reports false if s is not an ID of kind k, or is the
// last ID of its millisecond. It is very unlikely that a Generator also returns that ID.
func (k Kind) Next(s string) (string, bool) {
	if !k.Valid(s) {
		return "", false
	}
	u := ulid.MustParse(s[len(k)+1:])
	for i := len(u) - 1; i >= timeBytes; i-- {
		u[i]++
		if u[i] != 0 {
			return string(k) + "_" + u.String(), true
		}
	}
	return "", false
}

// timeBytes is the length of the time at the beginning of a ULID.
const timeBytes = 6

// Generator generates IDs that sort in the order of their generation, even within one millisecond and if the clock is
// set back. It is safe for concurrent use.
type Generator struct {
	now     clock.Clock
	random  io.Reader
	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    uint64 // the time of the last ID of New, in milliseconds since 1970
}

// NewGenerator returns a Generator that uses the times of now and the randomness of entropy, which is
// crypto/rand.Reader except in tests.
func NewGenerator(now clock.Clock, entropy io.Reader) *Generator {
	return &Generator{now: now, random: entropy, entropy: ulid.Monotonic(entropy, 0)}
}

// NewAfter returns a new ID of kind k that sorts after the ID earlierID of the same kind, which another generator may
// have generated. If that generator's clock was ahead, the new ID's time is ahead, too. This does not affect later IDs.
// earlierID may be "", which sorts before all IDs.
func (g *Generator) NewAfter(k Kind, earlierID string) string {
	next := g.New(k)
	at, ok := k.Time(earlierID)
	if !ok || next > earlierID {
		return next
	}
	var entropy [10]byte
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := io.ReadFull(g.random, entropy[:]); err != nil {
		panic(fmt.Sprintf("id: cannot read random bytes: %v", err))
	}
	return k.From(at.Add(time.Millisecond), entropy)
}

// New returns a new ID of kind k. It panics if the source of randomness fails. crypto/rand.Reader does not fail.
func (g *Generator) New(k Kind) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, ulid.Timestamp(g.now()))
	u, err := ulid.New(g.last, g.entropy)
	if errors.Is(err, ulid.ErrMonotonicOverflow) {
		// The IDs of this millisecond are used up: use the next millisecond.
		g.last++
		u, err = ulid.New(g.last, g.entropy)
	}
	if err != nil {
		panic(fmt.Sprintf("id: cannot read random bytes: %v", err))
	}
	return string(k) + "_" + u.String()
}
