// Package id makes and checks the service's identifiers: a prefix that names the kind,
// an underscore and a ULID, such as usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK. To clients they are opaque.
// What an id refers to, and whether it exists, is not known here.
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

// Kind is what an id names; its text is the id's prefix.
type Kind string

// The kinds of API.md §1.
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
)

// Valid reports whether s is an id of kind k in its one canonical spelling.
// An id of another kind, in lower case or with anything around it is not:
// the caller answers as if nothing were found.
func (k Kind) Valid(s string) bool {
	rest, ok := strings.CutPrefix(s, string(k)+"_")
	if !ok {
		return false
	}
	u, err := ulid.ParseStrict(rest)
	// ParseStrict also takes lower case, and letters that stand for others.
	return err == nil && u.String() == rest
}

// From makes the id of kind k that a moment, to the millisecond, and 80 bits make: the same for the same.
func (k Kind) From(at time.Time, entropy [10]byte) string {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(at)) // fails for years after 10889 and times before 1970, which stay 0
	_ = u.SetEntropy(entropy[:])      // fails for another length
	return string(k) + "_" + u.String()
}

// Time is the moment in an id of kind k, to the millisecond, and whether s is one.
func (k Kind) Time(s string) (time.Time, bool) {
	if !k.Valid(s) {
		return time.Time{}, false
	}
	return ulid.Time(ulid.MustParse(s[len(k)+1:]).Time()).UTC(), true
}

// Next is the id of kind k right behind s, with none between the two, and whether there is one: s must be of the kind, and not the last
// of its millisecond. No generator makes it but by chance.
func (k Kind) Next(s string) (string, bool) {
	if !k.Valid(s) {
		return "", false
	}
	u := ulid.MustParse(s[len(k)+1:])
	for i := len(u) - 1; i >= timeBytes; i-- {
		if u[i]++; u[i] != 0 {
			return string(k) + "_" + u.String(), true
		}
	}
	return "", false
}

// timeBytes are those of a ULID before its randomness.
const timeBytes = 6

// Generator makes ids. Those of one generator sort in the order in which they were made,
// even within one millisecond and when the clock steps back. It is safe for concurrent use.
type Generator struct {
	now     clock.Clock
	random  io.Reader
	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    uint64
}

// NewGenerator makes ids from the times of now and the randomness of entropy
// (crypto/rand.Reader, but in tests).
func NewGenerator(now clock.Clock, entropy io.Reader) *Generator {
	return &Generator{now: now, random: entropy, entropy: ulid.Monotonic(entropy, 0)}
}

// NewAfter is New for an id that must sort behind another one of its kind, whoever made that: where their clock was ahead of ours, it
// has a time that is as far ahead. Other ids of the generator are not moved. "" is before every id.
func (g *Generator) NewAfter(k Kind, other string) string {
	made := g.New(k)
	at, ok := k.Time(other)
	if !ok || made > other {
		return made
	}
	var entropy [10]byte
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := io.ReadFull(g.random, entropy[:]); err != nil {
		panic(fmt.Sprintf("id: no randomness: %v", err))
	}
	return k.From(at.Add(time.Millisecond), entropy)
}

// New makes an id of kind k. It panics if the source of randomness fails, which crypto/rand's does not:
// there is nothing safe to go on with.
func (g *Generator) New(k Kind) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, ulid.Timestamp(g.now()))
	u, err := ulid.New(g.last, g.entropy)
	if errors.Is(err, ulid.ErrMonotonicOverflow) {
		// The millisecond's numbers are used up: borrow from the next one.
		g.last++
		u, err = ulid.New(g.last, g.entropy)
	}
	if err != nil {
		panic(fmt.Sprintf("id: no randomness: %v", err))
	}
	return string(k) + "_" + u.String()
}
