package delivery

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// The messages of the three queues.
const (
	workspaceField  = `"workspaceId":"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
	webhookField    = `"webhookId":"` + webhookA + `"`
	deliveryField   = `"deliveryId":"` + deliveryA + `"`
	deliveryMessage = `{` + workspaceField + `,` + webhookField + `,` + deliveryField + `,"event":{"id":"evt_1"}}`
	turnMessage     = `{` + workspaceField + `,` + webhookField + `,"deliveries":["` + deliveryA + `"]}`
	creationMessage = `{` + workspaceField + `,"webhooks":["` + webhookA + `"],` +
		`"events":[{"id":"evt_1","projectId":"prj_1"}]}`
)

// A lane accepts only messages with the IDs that it needs.
func TestParseMessage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		fast, slow bool // whether the lane accepts the message
	}{
		{"delivery", deliveryMessage, true, true},
		{"delivery without its event", `{` + workspaceField + `,` + webhookField + `,` + deliveryField + `}`, false, true},
		{"turn", turnMessage, false, true},
		{"turn without deliveries", `{` + workspaceField + `,` + webhookField + `}`, false, true},
		{"events", creationMessage, false, true},
		{"no events", `{` + workspaceField + `,"webhooks":["` + webhookA + `"],"events":[]}`, false, false},
		{"events without workspace", `{"webhooks":["` + webhookA + `"],"events":[{"id":"evt_1"}]}`, false, false},
		{"no webhook", `{` + workspaceField + `,` + deliveryField + `}`, false, false},
		{"no workspace", `{` + webhookField + `,` + deliveryField + `}`, false, false},
		{"invalid webhook", `{` + workspaceField + `,"webhookId":"` + webhookA + `#",` + deliveryField + `}`, false, false},
		{"invalid delivery", `{` + workspaceField + `,` + webhookField + `,"deliveryId":"x"}`, false, true},
		{"unknown field", deliveryMessage[:len(deliveryMessage)-1] + `,"x":[1]}`, true, true},
		{"wrong type", `{` + workspaceField + `,` + webhookField + `,"deliveryId":1}`, false, false},
		{"not JSON", deliveryMessage[1:], false, false},
		{"empty", "", false, false},
		{"array", `[]`, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for l, want := range map[lane]bool{fastLane: tc.fast, slowLane: tc.slow} {
				m, err := parseMessage(tc.body, l)
				if (err == nil) != want {
					t.Errorf("lane %d: got %+v, %v, want accepted = %t", l, m, err, want)
				}
			}
		})
	}
}

// FuzzMessage checks that every accepted message contains the IDs that its lane needs, and that encoding it again does
// not change it.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		deliveryMessage, turnMessage, creationMessage, `{` + workspaceField + `,"events":[{}],"webhooks":[""]}`,
		deliveryMessage[:len(deliveryMessage)-1] + `,"x":[1]}`, `{"deliveryId":null}`, `[]`, ``,
		`{"webhookId":"` + webhookA + `#"}`, turnMessage[:len(turnMessage)-1] + `,"event":{}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, l := range []lane{fastLane, slowLane} {
			m, err := parseMessage(body, l)
			if err != nil {
				continue
			}
			namesWebhook := id.Webhook.Valid(m.WebhookID) && (l == slowLane || id.Delivery.Valid(m.DeliveryID))
			createsDeliveries := l == slowLane && len(m.Events) > 0
			if !id.Workspace.Valid(m.WorkspaceID) || !namesWebhook && !createsDeliveries || !json.Valid([]byte(body)) {
				t.Fatalf("lane %d accepts the invalid message %q as %+v", l, body, m)
			}
			decoded, err := parseMessage(m.queueMessage(0).Body, l)
			if diff := cmp.Diff(m, decoded, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Fatalf("lane %d: got %v after encoding and decoding %+v (-want +got):\n%s", l, err, m, diff)
			}
		}
	})
}

// FuzzSealed checks that only a text that was sealed for the webhook can be opened.
func FuzzSealed(f *testing.F) {
	s := secretsWithKeys("k2", "k1")
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	for _, sealer := range []Secrets{s, secretsWithKeys("k1")} {
		sealed, err := sealer.Seal(f.Context(), webhookA, secret)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(webhookA, sealed)
		f.Add(webhookA+"x", sealed)
		f.Add(webhookA, sealed[:len(sealed)-1])
		f.Add(webhookA, "\n"+sealed)
	}
	f.Add("", "k1.")
	f.Fuzz(func(t *testing.T, webhookID, sealed string) {
		opened, err := s.Open(t.Context(), webhookID, sealed)
		if err == nil && (opened != secret || webhookID != webhookA) || err != nil && !isLost(err) {
			t.Fatalf("open(%q, %q): got %q, %v", webhookID, sealed, opened, err)
		}
	})
}

// FuzzDecodeStored checks that decoding an arbitrary item returns an error, or a record that does not change when it is
// encoded and decoded again. Decisions about such a record do not panic.
func FuzzDecodeStored(f *testing.F) {
	for _, seed := range []string{
		`{"id":{"S":"wh_1"},"events":{"L":[{"S":"file.*"}]},"previous":{"L":[{"M":{"sealed":{"S":"k.x"},"until":{"S":"2026-01-31T08:15:30.123Z"}}}]},"lastAt":{"S":"2026-01-31T08:15:30.123Z"}}`,
		`{"id":{"S":"wh_1"},"prompt":{"BOOL":true},"due":{"S":"DUE#1"},"dueAt":{"S":"2026-01-31T08:15:30.123Z"},"notBefore":{"S":"2031-05-05T13:00:00.000Z"},"drainedAt":{"S":"2026-01-31T08:15:30.123Z"}}`,
		`{"id":{"S":"dlv_1"},"attempts":{"L":[{"M":{"at":{"S":"2026-01-31T08:15:30.123Z"},"statusCode":{"N":"500"},"durationMs":{"N":"12"}}}]},"status":{"S":"pending"},"tries":{"N":"-1"}}`,
		`{"id":{"S":"dlv_1"},"webhookId":{"S":"` + webhookA + `"},"due":{"S":"SLOW#` +
			webhookA + `"},"status":{"S":"pending"},"active":{"BOOL":true}}`,
		`{"events":{"SS":["a"]},"attempts":{"NULL":true},"leaseUntil":{"NULL":true},"previous":{"L":[{"NULL":true}]}}`,
		`{"expiresAt":{"N":"1e99"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		w, _ := slicetest.DecodeStored[Webhook](t, item)
		w.dueAfterAddition(noon)
		turnEnd{hasFailed: true}.nextTurns(w, noon, 0)
		d, ok := slicetest.DecodeStored[Delivery](t, item)
		if !ok {
			return
		}
		d.FinishedAttempts(noon)
		_ = d.isRecoverable(noon)
		for _, l := range []lane{fastLane, slowLane} {
			planNext(d, &w, l, noon)
		}
		next, _ := d.withLease(w, noon, 0)
		if next.Status != Pending || next.DueAt == nil || !next.hasLease(noon) {
			t.Fatalf("got %+v with a lease, want it pending, in the index and leased", next)
		}
		if next.waitsInSlowLane() && next.dueInSlowLane().Before(next.LeaseUntil.Time()) {
			t.Fatalf("got %+v with a lease, want it due after its lease", next)
		}
	})
}
