package db_test

import (
	"fmt"
	"maps"
	"slices"
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
	prj  = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJP"
	prj2 = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJQ"
	cmt  = "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJR"
	evt  = "evt_01K9ZQ3V7M8T5XW2ABCDEFGHJS"
)

// hash is the hex SHA-256 of a path, version a version of a file.
const (
	hash    = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	version = "01K9ZQ3V7M8T5XW2ABCDEFGHJT"
)

func TestKeys(t *testing.T) {
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
		{db.MembershipCountKey(user), db.Key{PK: "USER#" + user, SK: "MEMBERSHIPS"}},
		{db.ProjectKey(ws, prj), db.Key{PK: "WS#" + ws, SK: "PROJECT#" + prj}},
		{db.SlugKey(ws, "to-do"), db.Key{PK: "WS#" + ws, SK: "SLUG#to-do"}},
		{db.TreeKey(prj), db.Key{PK: "PROJECT#" + prj, SK: "TREE"}},
		{db.FileKey(prj, "/a#b/TREE"), db.Key{PK: "PROJECT#" + prj, SK: "FILE#/a#b/TREE"}},
		{db.VersionKey(prj, hash, version), db.Key{PK: "PROJECT#" + prj, SK: "VERSION#" + hash + "#" + version}},
		{db.CommentKey(prj, cmt), db.Key{PK: "PROJECT#" + prj, SK: "COMMENT#" + cmt}},
		{db.ChunkKey(prj, version, 3), db.Key{PK: "PROJECT#" + prj, SK: version + "#3"}},
		{db.ProjectEventKey(prj, evt), db.Key{PK: "PROJECT#" + prj, SK: evt}},
		{db.WorkspaceEventKey(ws, evt), db.Key{PK: "WS#" + ws, SK: evt}},
		{db.Key(db.SessionsOf(user)), db.Key{PK: "USER#" + user, SK: "SESSION#"}},
		{db.Key(db.MembersOf(ws)), db.Key{PK: "WS#" + ws, SK: "MEMBER#"}},
		{db.Key(db.MembershipsOf(user)), db.Key{PK: "USER#" + user, SK: "WS#"}},
		{db.Key(db.ProjectsOf(ws)), db.Key{PK: "WS#" + ws, SK: "PROJECT#"}},
		{db.Key(db.SlugsOf(ws, "to-do")), db.Key{PK: "WS#" + ws, SK: "SLUG#to-do"}},
		{db.Key(db.ProjectPartition(prj)), db.Key{PK: "PROJECT#" + prj}},
		{db.Key(db.FilesOf(prj, "")), db.Key{PK: "PROJECT#" + prj, SK: "FILE#"}},
		{db.Key(db.FilesOf(prj, "/src/")), db.Key{PK: "PROJECT#" + prj, SK: "FILE#/src/"}},
		{db.Key(db.VersionsOf(prj, hash)), db.Key{PK: "PROJECT#" + prj, SK: "VERSION#" + hash + "#"}},
		{db.Key(db.CommentsOf(prj)), db.Key{PK: "PROJECT#" + prj, SK: "COMMENT#"}},
		{db.Key(db.EventsOf(prj)), db.Key{PK: "PROJECT#" + prj, SK: "evt_"}},
		{db.FilesOf(prj, "/a").After("/b"), db.Key{PK: "PROJECT#" + prj, SK: "FILE#/a/b"}},
		{db.ProjectPartition(prj).After("TREE"), db.Key{PK: "PROJECT#" + prj, SK: "TREE"}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestInvalidPartsMakeNoKey(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]db.Key{
		"no id":                     db.UserKey(""),
		"an id of another kind":     db.UserKey(ses),
		"another item's key":        db.UserKey(user + "#SESSION"),
		"a session of a forged id":  db.SessionKey(user, ses+"#"),
		"swapped ids":               db.MemberKey(user, ws),
		"no e-mail":                 db.EmailKey(""),
		"NUL":                       db.EmailKey("a\x00@b.c"),
		"separator in a provider":   db.IdentityKey("gitea#1", "2"),
		"no subject":                db.IdentityKey("gitea", ""),
		"separator in a rule":       db.CounterKey("login#x", time.Unix(0, 0), "ip"),
		"separator in a subject":    db.CounterKey("login", time.Unix(0, 0), "a#b", "c"),
		"too long":                  db.EmailKey(strings.Repeat("a", 2048)),
		"too long to sort by":       db.KnownIPKey("a@b.c", strings.Repeat("1", 1024)),
		"sessions of an invalid ID": db.Key(db.SessionsOf("usr_")),
		"a file of a workspace":     db.FileKey(ws, "/a"),
		"a file without path":       db.FileKey(prj, ""),
		"a path with NUL":           db.FileKey(prj, "/a\x00"),
		"a path beyond every key":   db.FileKey(prj, "/"+strings.Repeat("a", 1024)),
		"a prefix beyond any key":   db.Key(db.FilesOf(prj, strings.Repeat("a", 1024))),
		"files of nothing":          db.Key(db.FilesOf("", "/")),
		"a partition of nothing":    db.Key(db.ProjectPartition("PROJECT")),
		"a slug of nothing":         db.SlugKey(ws, ""),
		"slugs of nothing":          db.Key(db.SlugsOf(ws, "")),
		"separator in a hash":       db.VersionKey(prj, hash+"#x", version),
		"versions of nothing":       db.Key(db.VersionsOf(prj, "")),
		"versions of two hashes":    db.Key(db.VersionsOf(prj, hash+"#"+hash)),
		"no version":                db.VersionKey(prj, hash, ""),
		"separator in a content":    db.ChunkKey(prj, "a#1", 2),
		"NUL in a content":          db.ChunkKey(prj, "a\x00", 2),
		"no content":                db.ChunkKey(prj, "", 2),
		"a chunk before the first":  db.ChunkKey(prj, version, -1),
		"a comment of a kind":       db.CommentKey(prj, evt),
		"an event of a kind":        db.ProjectEventKey(prj, cmt),
		"a workspace's as such":     db.WorkspaceEventKey(prj, evt),
		"swapped project ids":       db.ProjectKey(prj, ws),
		"before the first":          db.FilesOf(prj, "").After(""),
		"behind any key":            db.FilesOf(prj, "").After(strings.Repeat("a", 1024)),
		"behind nothing":            db.Prefix{}.After("x"),
	} {
		if !key.IsZero() {
			t.Errorf("%s: %+v", name, key)
		}
	}
}

// No two different things have the same key, whatever text they are named by.
func TestKeysDoNotCollide(t *testing.T) {
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

// thing is something that has a key, named in a way that no other thing is.
type thing struct {
	name string
	key  db.Key
}

// drawThing makes a thing of the projects table out of whatever texts.
func drawThing(t *rapid.T) thing {
	word := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab#/\x00é")), 0, 6, -1),
		rapid.SampledFrom([]string{"TREE", "FILE#/a", "/TREE", "#TREE", "WORKSPACE", "MEMBERSHIPS", user, "MEMBER#" + user, prj, prj2,
			"PROJECT#" + prj, ws, "WS#" + ws, evt, cmt, hash, hash + "#" + version, version}))
	a, b := word.Draw(t, "a"), word.Draw(t, "b")
	things := map[string]db.Key{
		"file": db.FileKey(a, b), "comment": db.CommentKey(a, b), "project": db.ProjectKey(a, b), "slug": db.SlugKey(a, b),
		"member": db.MemberKey(a, b), "membership": db.MembershipKey(a, b), "version": db.VersionKey(prj, a, b),
		"event": db.ProjectEventKey(a, b), "workspace event": db.WorkspaceEventKey(a, b),
	}
	alone := map[string]db.Key{"tree": db.TreeKey(a), "workspace": db.WorkspaceKey(a), "memberships": db.MembershipCountKey(a)}
	kind := rapid.SampledFrom(append(slices.Sorted(maps.Keys(things)), slices.Sorted(maps.Keys(alone))...)).Draw(t, "kind")
	if key, ok := alone[kind]; ok {
		return thing{fmt.Sprintf("%s %q", kind, a), key}
	}
	return thing{fmt.Sprintf("%s %q %q", kind, a, b), things[kind]}
}

// Whatever a path, a slug or an id is made of, its key is that of nothing else.
func TestProjectKeysDoNotCollide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, other := drawThing(t), drawThing(t)
		if one.name != other.name && one.key == other.key && !one.key.IsZero() {
			t.Fatalf("%s and %s share %+v", one.name, other.name, one.key)
		}
		if (one.key.PK == "") != (one.key.SK == "") || len(one.key.SK) > 1024 || strings.ContainsRune(one.key.PK+one.key.SK, 0) {
			t.Fatalf("%s has %+v", one.name, one.key)
		}
	})
}

// Every valid path has a key that DynamoDB accepts, and can be read back from it.
func TestLongestPathsAreValid(t *testing.T) {
	t.Parallel()
	c, table, _ := newTable(t)
	for _, path := range []string{"/" + strings.Repeat("a", 511), "/" + strings.Repeat("é", 255) + "#"} {
		key := db.FileKey(prj, path)
		mustDo(t, c, table.Create(key, item("x")))
		items, err := table.QueryAll(t.Context(), db.FilesOf(prj, path))
		if err != nil || len(items) != 1 || db.FilesOf(prj, "").Rest(db.KeyOf(items[0])) != path {
			t.Errorf("%d bytes: %d items, %v", len(path), len(items), err)
		}
	}
}
