package reencrypt

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestRotation rehearses the procedure of RUNBOOK.md that replaces the current key.
func TestRotation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	session := s.signUp("ada")
	webhookID := s.subscribe(session, "/ok")
	checkAll := func(sessions ...string) {
		t.Helper()
		for _, session := range sessions {
			s.wantSession(session, true)
		}
		s.wantDelivery(session, webhookID, "/ok")
	}
	checkAll(session)

	s.put(addedRing)
	for range 10 {
		s.wait(1)
		checkAll(session)
	}
	s.put(newRing)
	next := session
	for i := range 10 { // an instance that still has the old ring knows both keys
		s.wait(1)
		next = s.logIn(i%len(s.instances), "ada")
		checkAll(session, next)
	}
	if kid := s.keyOf(next); kid != "k2" {
		t.Errorf("got a session that was signed with %s, want k2", kid)
	}
	if out, err := s.reencrypt(t.Context()); err != nil || !strings.Contains(out, "k2                   protects 1 secrets") {
		t.Fatalf("got %s, %v", out, err)
	}
	checkAll(session, next)

	s.clock.Advance(21 * 24 * time.Hour) // the rest of the time for which the old session is valid, in part
	s.put(removedRing)
	s.wait(10)
	s.wantSession(session, false)
	session = s.logIn(0, "ada")
	checkAll(session)
}

// TestLeakedKey rehearses the procedure of RUNBOOK.md for a key that has leaked.
func TestLeakedKey(t *testing.T) {
	t.Parallel()
	s := newService(t)
	session := s.signUp("ada")
	webhookID := s.subscribe(session, "/ok")
	s.wantSession(session, true)

	s.put(leakedRing)
	s.wait(10)
	s.wantSession(session, false)
	session = s.logIn(0, "ada")
	for i := range s.instances {
		s.wantSession(s.logIn(i, "ada"), true)
	}
	s.wantDelivery(session, webhookID, "/ok") // the instances still decrypt the secret with the leaked key

	out, err := s.reencrypt(t.Context())
	if err != nil || !strings.Contains(out, "of 1 webhooks") || strings.Contains(out, "k1") {
		t.Fatalf("got %s, %v", out, err)
	}
	s.wantDelivery(session, webhookID, "/ok")
	if out, err = s.reencrypt(t.Context()); err != nil || !strings.Contains(out, "of 0 webhooks") {
		t.Fatalf("a second run: got %s, %v", out, err)
	}

	s.put(removedRing)
	s.wait(10)
	s.wantSession(session, true)
	s.wantDelivery(session, webhookID, "/ok")
}

// If the leaked key is removed too early, the command reports the webhooks that lost their secrets, and the key can be
// added again.
func TestKeyRemovedTooEarly(t *testing.T) {
	t.Parallel()
	s := newService(t)
	session := s.signUp("ada")
	webhookID := s.subscribe(session, "/ok")
	s.put(removedRing)
	out, err := s.reencrypt(t.Context())
	if !errors.Is(err, errOtherKeys) || !strings.Contains(out, webhookID+" cannot be decoded, or has a secret that cannot be decrypted") {
		t.Errorf("got %s, %v, want the webhook and an error", out, err)
	}
	s.put(leakedRing)
	if out, err = s.reencrypt(t.Context()); err != nil || !strings.Contains(out, "of 1 webhooks") {
		t.Errorf("got %s, %v after the key was added again", out, err)
	}
}

// An instance that serves requests reads the ring every four to six minutes.
func TestReadsOfTheRing(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.signUp("ada")
	s.wait(60)
	if n := s.reads.Load(); n < 3*9 || n > 3*16 {
		t.Errorf("three instances read the ring %d times in an hour, want one read in 4 to 6 minutes each", n)
	}
}
