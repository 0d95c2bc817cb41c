package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/db"
)

const (
	user = "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	ses  = "ses_01K9ZQ3V7M8T5XW2ABCDEFGHJM"
	ws   = "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJN"
)

func TestKeysAreThoseOfTheDesign(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_763_640_000, 0)
	for _, tc := range []struct{ got, want db.Key }{
		{db.UserKey(user), db.Key{PK: "USER#" + user, SK: "USER"}},
		{db.EmailKey("Ada@Example.com"), db.Key{PK: "EMAIL#ada@example.com", SK: "EMAIL"}},
		{db.EmailKey("a#b@example.com"), db.Key{PK: "EMAIL#a#b@example.com", SK: "EMAIL"}},
		{db.KnownIPKey("ada@example.com", "2001:db8::/64"), db.Key{PK: "EMAIL#ada@example.com", SK: "IP#2001:db8::/64"}},
		{db.UsernameKey("Ada"), db.Key{PK: "USERNAME#ada", SK: "USERNAME"}},
		{db.IdentityKey("gitea", "1#2"), db.Key{PK: "IDENTITY#gitea#1#2", SK: "IDENTITY"}},
		{db.OAuthStateKey("ab12"), db.Key{PK: "OAUTH#ab12", SK: "OAUTH"}},
		{db.SessionKey(user, ses), db.Key{PK: "USER#" + user, SK: "SESSION#" + ses}},
		{db.CounterKey("login", start, "192.0.2.1", "a#b@c.d"), db.Key{PK: "RATE#login#192.0.2.1#a#b@c.d", SK: "1763640000"}},
		{db.WorkspaceKey(ws), db.Key{PK: "WS#" + ws, SK: "WORKSPACE"}},
		{db.MemberKey(ws, user), db.Key{PK: "WS#" + ws, SK: "MEMBER#" + user}},
		{db.MembershipKey(user, ws), db.Key{PK: "USER#" + user, SK: "WS#" + ws}},
		{db.Key(db.SessionsOf(user)), db.Key{PK: "USER#" + user, SK: "SESSION#"}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestPartsThatCannotBeRightMakeNoKey(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]db.Key{
		"no id":                    db.UserKey(""),
		"an id of another kind":    db.UserKey(ses),
		"another item's key":       db.UserKey(user + "#SESSION"),
		"a session of a forged id": db.SessionKey(user, ses+"#"),
		"swapped ids":              db.MemberKey(user, ws),
		"no e-mail":                db.EmailKey(""),
		"NUL":                      db.EmailKey("a\x00@b.c"),
		"separator in a provider":  db.IdentityKey("gitea#1", "2"),
		"no subject":               db.IdentityKey("gitea", ""),
		"separator in a rule":      db.CounterKey("login#x", time.Unix(0, 0), "ip"),
		"separator in a subject":   db.CounterKey("login", time.Unix(0, 0), "a#b", "c"),
		"too long":                 db.EmailKey(strings.Repeat("a", 2048)),
		"too long to sort by":      db.KnownIPKey("a@b.c", strings.Repeat("1", 1024)),
		"sessions of nobody":       db.Key(db.SessionsOf("usr_")),
	} {
		if !key.IsZero() {
			t.Errorf("%s: %+v", name, key)
		}
	}
}

// No two different things have the same key, whatever text they are named by.
func TestKeysDoNotMeet(t *testing.T) {
	t.Parallel()
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab#@\x00")), 0, 4, -1)
	at := time.Unix(0, 0)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		c, d := text.Draw(t, "c"), text.Draw(t, "d")
		if a == c && b == d {
			t.Skip("the same")
		}
		for name, pair := range map[string][2]db.Key{
			"identity": {db.IdentityKey(a, b), db.IdentityKey(c, d)},
			"counter":  {db.CounterKey("r", at, a, b), db.CounterKey("r", at, c, d)},
			"known ip": {db.KnownIPKey(a, b), db.KnownIPKey(c, d)},
		} {
			if pair[0] == pair[1] && !pair[0].IsZero() {
				t.Fatalf("%s: %q/%q and %q/%q share %+v", name, a, b, c, d, pair[0])
			}
		}
	})
}
