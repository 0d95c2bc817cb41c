package mail_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/mailtest"
	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

var now = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

type fixture struct {
	sdk    *dynamodb.Client
	client *db.Client
	tables config.Tables
	keys   *config.Keys
	outbox *mail.Outbox
}

func newFixture(t *testing.T, settings mail.Settings) *fixture {
	t.Helper()
	at := func() time.Time { return now }
	f := &fixture{sdk: dynamotest.Start(t), keys: slicetest.Keys(at)}
	f.tables = config.Tables{Accounts: slicetest.Table(t, f.sdk, "accounts"), Mail: slicetest.Table(t, f.sdk, "mail")}
	f.client = db.Wrap(f.sdk, at)
	f.outbox = mail.NewOutbox(f.client, f.tables, f.keys, id.NewGenerator(at, rand.Reader), at, settings)
	return f
}

// write stores a mail and returns its item.
func (f *fixture) write(t *testing.T, m mail.Message) db.Item {
	t.Helper()
	w, err := f.outbox.Write(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.client.Tx(w).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := f.sdk.Scan(t.Context(), &dynamodb.ScanInput{TableName: &f.tables.Mail})
	if err != nil {
		t.Fatal(err)
	}
	return out.Items[len(out.Items)-1]
}

var reset = mail.Message{
	Kind: mail.Reset, To: "ada@example.com", UserID: "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", Username: "ada",
	Values: map[string]string{"ip": "192.0.2.1"}, Token: "the-token-of-the-link", Code: "7K3M9PQR",
	ExpiresAt: now.Add(30 * time.Minute),
}

func TestStoredMailIsReadBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, mail.Settings{From: "no-reply@example.com"})
	item := f.write(t, reset)
	if got := mailtest.Stored(t, f.sdk, f.tables.Mail, f.keys); !cmp.Equal(got, []mail.Message{reset}) {
		t.Errorf("the table has %+v, want %+v", got, reset)
	}
	for _, secret := range []string{reset.To, reset.Username, reset.Token, reset.Code} {
		if strings.Contains(fmt.Sprint(plain(item)), secret) {
			t.Errorf("the item contains %q in clear text", secret)
		}
	}
	expires, ok := item["expiresAt"].(*types.AttributeValueMemberN)
	if want := fmt.Sprint(now.Add(7 * 24 * time.Hour).Unix()); !ok || expires.Value != want {
		t.Errorf("the item expires at %v, want %s", item["expiresAt"], want)
	}
}

// plain returns the texts of an item.
func plain(item db.Item) (texts []string) {
	for _, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			texts = append(texts, v.Value)
		case *types.AttributeValueMemberB:
			texts = append(texts, string(v.Value))
		}
	}
	return texts
}

// TestItemsRevealNothing checks that a mail that is discarded has the same attributes and the same size as a mail to a
// user with the longest name.
func TestItemsRevealNothing(t *testing.T) {
	t.Parallel()
	address := strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 60)+".", 3) + "com"
	known, unknown := reset, mail.Message{Kind: mail.Reset, To: address, Discard: true, ExpiresAt: reset.ExpiresAt}
	known.To, known.Username = address, strings.Repeat("u", 64)
	sizes := map[string]int{}
	for name, m := range map[string]mail.Message{"known": known, "unknown": unknown} {
		f := newFixture(t, mail.Settings{From: "no-reply@example.com"})
		for attribute, value := range f.write(t, m) {
			size := len(fmt.Sprintf("%T", value)) + len(attribute)
			if b, ok := value.(*types.AttributeValueMemberB); ok {
				size = len(b.Value)
			}
			sizes[name] += size
		}
	}
	if sizes["known"] != sizes["unknown"] || sizes["known"] > 1000 {
		t.Errorf("got items of the sizes %v, want the same size, below 1 KB", sizes)
	}
}

func TestMailThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, mail.Settings{From: "no-reply@example.com"})
	item, other := f.write(t, reset), newFixture(t, mail.Settings{From: "no-reply@example.com"}).write(t, reset)
	sealed, ok := item["sealed"].(*types.AttributeValueMemberB)
	if !ok {
		t.Fatalf("the item has no sealed message: %v", item)
	}
	changed := append([]byte(nil), sealed.Value...)
	changed[len(changed)-1] ^= 1
	for name, change := range map[string]func(db.Item){
		"of another mail": func(i db.Item) { i["id"] = other["id"] },
		"changed":         func(i db.Item) { i["sealed"] = &types.AttributeValueMemberB{Value: changed} },
		"without an ID":   func(i db.Item) { delete(i, "id") },
		"of a lost key":   func(i db.Item) { i["keyId"] = &types.AttributeValueMemberS{Value: "k9"} },
	} {
		damaged := db.Item{}
		for attribute, value := range item {
			damaged[attribute] = value
		}
		change(damaged)
		if _, m, err := mail.Open(t.Context(), f.keys, damaged); !errors.Is(err, mail.ErrUnreadable) {
			t.Errorf("a mail %s: got %+v and the error %v, want ErrUnreadable", name, m, err)
		}
	}
}

func TestWithoutMailFrom(t *testing.T) {
	t.Parallel()
	f := newFixture(t, mail.Settings{})
	_, err := f.outbox.Write(t.Context(), reset)
	if failure, ok := errors.AsType[*fault.Error](err); !ok || f.outbox.Enabled() || failure.Code.Status() != 501 {
		t.Errorf("got the error %v, want MAIL_NOT_CONFIGURED", err)
	}
}

func TestMailWithoutKindOrAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, mail.Settings{From: "no-reply@example.com"})
	for _, m := range []mail.Message{{To: "ada@example.com"}, {Kind: mail.Reset}} {
		if _, err := f.outbox.Write(t.Context(), m); err == nil {
			t.Errorf("Write accepted %+v", m)
		}
	}
}

func TestClearState(t *testing.T) {
	t.Parallel()
	f := newFixture(t, mail.Settings{From: "no-reply@example.com"})
	since, ref := clock.Stamp(now), f.outbox.StateRef("Ada@example.com")
	stored := f.client.Table(f.tables.Accounts).Put(db.MailStateKey("ada@example.com"),
		mail.AddressState{UndeliverableSince: &since})
	for _, step := range []struct {
		write db.Write
		want  *clock.Timestamp
	}{{stored, &since}, {f.outbox.ClearState("ADA@example.com"), nil}} {
		if err := f.client.Tx(step.write).Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		items, err := f.client.BatchGet(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		state, err := db.Decode[mail.AddressState](items[ref])
		if err != nil || !cmp.Equal(state.UndeliverableSince, step.want) {
			t.Errorf("got the state %+v and the error %v, want %v", state, err, step.want)
		}
	}
}
