package session

import (
	"context"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/account/user"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
)

const testKeyRing = `{"current":"k2","k1":"an old key that is still in the ring 0123456789","k2":"the key with which new tokens are signed 0123"}`

var startTime = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

// newService returns a Service whose clock always shows startTime. If t is nil, the Service has no storage.
func newService(t *testing.T) *Service {
	now := func() time.Time { return startTime }
	keys := config.NewKeys(func(context.Context) (string, error) { return testKeyRing, nil }, now)
	if t == nil {
		return &Service{keys: keys, now: now}
	}
	sdk := dynamotest.Start(t)
	tables := config.Tables{Accounts: slicetest.Table(t, sdk, "accounts"), Projects: slicetest.Table(t, sdk, "projects")}
	return New(db.Wrap(sdk, now), tables, keys, now, slog.New(slog.DiscardHandler))
}

// token returns the token of a new session of a new user.
func (s *Service) token(t *testing.T, username string) string {
	t.Helper()
	ids := id.NewGenerator(s.now, rand.Reader)
	u := user.User{ID: ids.New(id.User), Email: username + "@example.com", Username: username}
	started, writes, err := s.Start(t.Context(), ids.New(id.Session), u, httpapi.RequestInfo{})
	if err == nil {
		tx := s.db.Tx(s.users.Create(u, user.Credential{UserID: u.ID}, ids.New(id.Workspace))...)
		tx.Add(writes...)
		err = tx.Commit(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return started.Token
}

// A session never exceeds a lifetime, and a use never shortens it.
func TestExpiryIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		session := Session{CreatedAt: clock.Stamp(startTime)}.afterUse(startTime)
		now := startTime
		for range rapid.IntRange(1, 60).Draw(t, "uses") {
			pauses := []time.Duration{0, time.Millisecond, time.Hour, 24*time.Hour + time.Second, 6 * 24 * time.Hour}
			now = now.Add(rapid.SampledFrom(pauses).Draw(t, "pause"))
			if !session.isActive(user.User{}, now) {
				return
			}
			before := session.expires()
			session = session.afterUse(now)
			after := session.expires()
			if after.After(startTime.Add(AbsoluteLife)) || after.After(now.Add(IdleLife)) {
				t.Fatalf("at %v: the session expires at %v, which exceeds a lifetime", now, after)
			}
			if after.Before(before) {
				t.Fatalf("at %v: the renewal changed the expiry from %v to the earlier %v", now, before, after)
			}
		}
	})
}
