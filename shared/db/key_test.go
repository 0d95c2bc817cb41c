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
	idn  = "idn_01K9ZQ3V7M8T5XW2ABCDEFGHJW"
	act  = "act_01K9ZQ3V7M8T5XW2ABCDEFGHJX"
	ws   = "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJN"
	inv  = "inv_01K9ZQ3V7M8T5XW2ABCDEFGHJX"
	prj  = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJP"
	prj2 = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJQ"
	cmt  = "cmt_01K9ZQ3V7M8T5XW2ABCDEFGHJR"
	exp  = "exp_01K9ZQ3V7M8T5XW2ABCDEFGHJT"
	evt  = "evt_01K9ZQ3V7M8T5XW2ABCDEFGHJS"
	upl  = "upl_01K9ZQ3V7M8T5XW2ABCDEFGHJV"
)

// hash is the SHA-256 of a path in hex. version is a version of a file.
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
		{db.UserIdentityKey(user, idn), db.Key{PK: "USER#" + user, SK: "IDENTITY#" + idn}},
		{db.Key(db.IdentitiesOf(user)), db.Key{PK: "USER#" + user, SK: "IDENTITY#"}},
		{db.MailTokensKey(user, "reset"), db.Key{PK: "USER#" + user, SK: "MAILTOKENS#reset"}},
		{db.ActivityKey(user, act), db.Key{PK: "USER#" + user, SK: "ACTIVITY#" + act}},
		{db.Key(db.ActivityOf(user)), db.Key{PK: "USER#" + user, SK: "ACTIVITY#"}},
		{db.OAuthStateKey("ab12"), db.Key{PK: "OAUTH#ab12", SK: "OAUTH"}},
		{db.SessionKey(user, ses), db.Key{PK: "USER#" + user, SK: "SESSION#" + ses}},
		{db.CounterKey("login", start, "a#b@c.d"), db.Key{PK: "RATE#login#a#b@c.d", SK: "1763640000"}},
		{db.OperationsKey("test", user), db.Key{PK: "OPERATIONS#test#" + user, SK: "OPERATIONS"}},
		{db.WebhookAccountKey(user), db.Key{PK: "USER#" + user, SK: "WEBHOOKS"}},
		{db.WorkspaceKey(ws), db.Key{PK: "WS#" + ws, SK: "WORKSPACE"}},
		{db.MemberKey(ws, user), db.Key{PK: "WS#" + ws, SK: "MEMBER#" + user}},
		{db.MembershipKey(user, ws), db.Key{PK: "USER#" + user, SK: "WS#" + ws}},
		{db.MembershipCountKey(user), db.Key{PK: "USER#" + user, SK: "MEMBERSHIPS"}},
		{db.InvitationsKey(ws), db.Key{PK: "WS#" + ws, SK: "INVITATIONS"}},
		{db.InvitationKey(user, inv), db.Key{PK: "USER#" + user, SK: "INVITATION#" + inv}},
		{db.AddressInvitationKey("Ada@Example.com", inv), db.Key{PK: "EMAIL#ada@example.com", SK: "INVITATION#" + inv}},
		{db.Key(db.AddressInvitationsOf("a#b@c.d")), db.Key{PK: "EMAIL#a#b@c.d", SK: "INVITATION#"}},
		{db.Key(db.InvitationsOf(user)), db.Key{PK: "USER#" + user, SK: "INVITATION#"}},
		{db.ProjectKey(ws, prj), db.Key{PK: "WS#" + ws, SK: "PROJECT#" + prj}},
		{db.SlugKey(ws, "to-do"), db.Key{PK: "WS#" + ws, SK: "SLUG#to-do"}},
		{db.TreeKey(prj), db.Key{PK: "PROJECT#" + prj, SK: "TREE"}},
		{db.VariablesKey(prj), db.Key{PK: "PROJECT#" + prj, SK: "VARIABLES"}},
		{db.FileKey(prj, "/a#b/TREE"), db.Key{PK: "PROJECT#" + prj, SK: "FILE#/a#b/TREE"}},
		{db.VersionKey(prj, hash, version), db.Key{PK: "PROJECT#" + prj, SK: "VERSION#" + hash + "#" + version}},
		{db.ExportKey(prj, exp), db.Key{PK: "PROJECT#" + prj, SK: "EXPORT#" + exp}},
		{db.JobKey(prj, exp), db.Key{PK: "PROJECT#" + prj, SK: "JOB#" + exp}},
		{db.CommentKey(prj, cmt), db.Key{PK: "PROJECT#" + prj, SK: "COMMENT#" + cmt}},
		{db.UploadKey(prj, upl), db.Key{PK: "PROJECT#" + prj, SK: "UPLOAD#" + upl}},
		{db.ChunkKey(prj, version), db.Key{PK: "PROJECT#" + prj, SK: version + "#0"}},
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
		{db.Key(db.UploadsOf(prj)), db.Key{PK: "PROJECT#" + prj, SK: "UPLOAD#"}},
		{db.Key(db.EventsOf(prj)), db.Key{PK: "PROJECT#" + prj, SK: "evt_"}},
		{db.FilesOf(prj, "/a").After("/b"), db.Key{PK: "PROJECT#" + prj, SK: "FILE#/a/b"}},
		{db.ProjectPartition(prj).After("TREE"), db.Key{PK: "PROJECT#" + prj, SK: "TREE"}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("key (-want +got):\n%s", diff)
		}
	}
}

func TestInvalidPartsResultInTheZeroKey(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]db.Key{
		"user: empty ID":                  db.UserKey(""),
		"user: session ID":                db.UserKey(ses),
		"user: ID with a suffix":          db.UserKey(user + "#SESSION"),
		"session: ID with a suffix":       db.SessionKey(user, ses+"#"),
		"sessions: ID without a ULID":     db.Key(db.SessionsOf("usr_")),
		"member: swapped IDs":             db.MemberKey(user, ws),
		"e-mail: empty":                   db.EmailKey(""),
		"e-mail: NUL":                     db.EmailKey("a\x00@b.c"),
		"e-mail: too long":                db.EmailKey(strings.Repeat("a", 2048)),
		"known IP: too long":              db.KnownIPKey("a@b.c", strings.Repeat("1", 1024)),
		"identity: separator in provider": db.IdentityKey("gitea#1", "2"),
		"identity: empty subject":         db.IdentityKey("gitea", ""),
		"user identity: session ID":       db.UserIdentityKey(user, ses),
		"counter: separator in rule":      db.CounterKey("login#x", time.Unix(0, 0), "ip"),
		"project: swapped IDs":            db.ProjectKey(prj, ws),
		"project partition: invalid ID":   db.Key(db.ProjectPartition("PROJECT")),
		"slug: empty":                     db.SlugKey(ws, ""),
		"slugs: empty base":               db.Key(db.SlugsOf(ws, "")),
		"file: workspace ID":              db.FileKey(ws, "/a"),
		"file: empty path":                db.FileKey(prj, ""),
		"file: NUL in path":               db.FileKey(prj, "/a\x00"),
		"file: path too long":             db.FileKey(prj, "/"+strings.Repeat("a", 1024)),
		"files: prefix too long":          db.Key(db.FilesOf(prj, strings.Repeat("a", 1024))),
		"files: empty ID":                 db.Key(db.FilesOf("", "/")),
		"files: first page":               db.FilesOf(prj, "").After(""),
		"files: position too long":        db.FilesOf(prj, "").After(strings.Repeat("a", 1024)),
		"zero prefix: position":           db.Prefix{}.After("x"),
		"version: separator in hash":      db.VersionKey(prj, hash+"#x", version),
		"version: empty":                  db.VersionKey(prj, hash, ""),
		"versions: empty hash":            db.Key(db.VersionsOf(prj, "")),
		"versions: separator in hash":     db.Key(db.VersionsOf(prj, hash+"#"+hash)),
		"chunk: separator in content ID":  db.ChunkKey(prj, "a#1"),
		"chunk: NUL in content ID":        db.ChunkKey(prj, "a\x00"),
		"chunk: empty content ID":         db.ChunkKey(prj, ""),
		"comment: event ID":               db.CommentKey(prj, evt),
		"upload: event ID":                db.UploadKey(prj, evt),
		"export: event ID":                db.ExportKey(prj, evt),
		"job: event ID":                   db.JobKey(prj, evt),
		"project event: comment ID":       db.ProjectEventKey(prj, cmt),
		"workspace event: project ID":     db.WorkspaceEventKey(prj, evt),
	} {
		if !key.IsZero() {
			t.Errorf("%s: got key %+v, want the zero Key", name, key)
		}
	}
}

// Keys that are built from different texts are different.
func TestKeysDoNotCollide(t *testing.T) {
	t.Parallel()
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab#@\x00")), 0, 4, -1)
	at := time.Unix(0, 0)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		c, d := text.Draw(t, "c"), text.Draw(t, "d")
		if a == c && b == d {
			t.Skip("the texts are equal")
		}
		for name, pair := range map[string][2]db.Key{
			"identity": {db.IdentityKey(a, b), db.IdentityKey(c, d)},
			"counter":  {db.CounterKey(a, at, b), db.CounterKey(c, at, d)},
			"known ip": {db.KnownIPKey(a, b), db.KnownIPKey(c, d)},
		} {
			if pair[0] == pair[1] && !pair[0].IsZero() {
				t.Fatalf("%s: (%q, %q) and (%q, %q) have the same key %+v", name, a, b, c, d, pair[0])
			}
		}
	})
}

// namedKey is a key with a unique description of the item that it belongs to.
type namedKey struct {
	name string
	key  db.Key
}

// drawKey returns the key of an item of the projects table, built from random texts.
func drawKey(t *rapid.T) namedKey {
	text := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab#/\x00é")), 0, 6, -1),
		rapid.SampledFrom([]string{
			"TREE", "VARIABLES", "FILE#/a", "/TREE", "#TREE", "WORKSPACE", "MEMBERSHIPS", user, "MEMBER#" + user, prj, prj2,
			"PROJECT#" + prj, ws, "WS#" + ws, evt, cmt, hash, hash + "#" + version, version,
		}))
	a, b := text.Draw(t, "a"), text.Draw(t, "b")
	oneText := map[string]db.Key{
		"tree":        db.TreeKey(a),
		"variables":   db.VariablesKey(a),
		"workspace":   db.WorkspaceKey(a),
		"memberships": db.MembershipCountKey(a),
		"invitations": db.InvitationsKey(a),
	}
	twoTexts := map[string]db.Key{
		"file":            db.FileKey(a, b),
		"comment":         db.CommentKey(a, b),
		"upload":          db.UploadKey(a, b),
		"export":          db.ExportKey(a, b),
		"job":             db.JobKey(a, b),
		"project":         db.ProjectKey(a, b),
		"slug":            db.SlugKey(a, b),
		"member":          db.MemberKey(a, b),
		"membership":      db.MembershipKey(a, b),
		"invitation":      db.InvitationKey(a, b),
		"version":         db.VersionKey(prj, a, b),
		"event":           db.ProjectEventKey(a, b),
		"workspace event": db.WorkspaceEventKey(a, b),
	}
	kinds := append(slices.Sorted(maps.Keys(twoTexts)), slices.Sorted(maps.Keys(oneText))...)
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	if key, ok := oneText[kind]; ok {
		return namedKey{fmt.Sprintf("%s %q", kind, a), key}
	}
	return namedKey{fmt.Sprintf("%s %q %q", kind, a, b), twoTexts[kind]}
}

// Different items have different keys, for any paths, slugs and IDs.
func TestProjectKeysDoNotCollide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first, second := drawKey(t), drawKey(t)
		key := first.key
		if first.name != second.name && key == second.key && !key.IsZero() {
			t.Fatalf("%s and %s have the same key %+v", first.name, second.name, key)
		}
		if (key.PK == "") != (key.SK == "") || len(key.SK) > 1024 || strings.ContainsRune(key.PK+key.SK, 0) {
			t.Fatalf("%s has the invalid key %+v", first.name, key)
		}
	})
}

// DynamoDB accepts the keys of the longest valid paths, and the path can be read from the key.
func TestLongestPathsAreValid(t *testing.T) {
	t.Parallel()
	client, table, _ := newTable(t)
	for _, path := range []string{"/" + strings.Repeat("a", 511), "/" + strings.Repeat("é", 255) + "#"} {
		key := db.FileKey(prj, path)
		mustDo(t, client, table.Create(key, item("x")))
		items, err := table.QueryAll(t.Context(), db.FilesOf(prj, path))
		if err != nil || len(items) != 1 || db.FilesOf(prj, "").Rest(db.KeyOf(items[0])) != path {
			t.Errorf("path of %d bytes: got %d items, %v, want the file with this path", len(path), len(items), err)
		}
	}
}
