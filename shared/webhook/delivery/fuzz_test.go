package delivery

import (
	"encoding/json"
	"testing"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/id"
)

// FuzzMessage checks that every accepted message contains valid IDs, and that encoding it again does not change them.
func FuzzMessage(f *testing.F) {
	const valid = `{"workspaceId":"ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK",` +
		`"webhookId":"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK","deliveryId":"dlv_01K9ZQ3V7M8T5XW2ABCDEFGHJK"}`
	for _, seed := range []string{
		valid, valid[:len(valid)-1] + `,"x":[1]}`, `{"deliveryId":null}`, `[]`, ``,
		`{"webhookId":"wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK#"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		m, err := parseMessage(body)
		if err != nil {
			return
		}
		validIDs := id.Workspace.Valid(m.WorkspaceID) && id.Webhook.Valid(m.WebhookID) && id.Delivery.Valid(m.DeliveryID)
		if !validIDs || !json.Valid([]byte(body)) {
			t.Fatalf("the invalid message %q is accepted as %+v", body, m)
		}
		if decoded, err := parseMessage(m.queued(0).Body); err != nil || decoded != m {
			t.Fatalf("got %+v, %v after encoding and decoding %+v", decoded, err, m)
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
		opened, err := s.open(t.Context(), webhookID, sealed)
		if err == nil && (opened != secret || webhookID != webhookA) || err != nil && !isLost(err) {
			t.Fatalf("open(%q, %q): got %q, %v", webhookID, sealed, opened, err)
		}
	})
}

// FuzzDecodeStored checks that decoding an arbitrary item returns an error, or a record that does not change when it is
// encoded and decoded again.
func FuzzDecodeStored(f *testing.F) {
	for _, seed := range []string{
		`{"id":{"S":"wh_1"},"events":{"L":[{"S":"file.*"}]},"previous":{"L":[{"M":{"sealed":{"S":"k.x"},"until":{"S":"2026-01-31T08:15:30.123Z"}}}]},"lastAt":{"S":"2026-01-31T08:15:30.123Z"}}`,
		`{"id":{"S":"dlv_1"},"attempts":{"L":[{"M":{"at":{"S":"2026-01-31T08:15:30.123Z"},"statusCode":{"N":"500"},"durationMs":{"N":"12"}}}]},"status":{"S":"pending"},"tries":{"N":"-1"}}`,
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
		slicetest.DecodeStored[Webhook](t, item)
		if d, ok := slicetest.DecodeStored[Delivery](t, item); ok {
			d.FinishedAttempts(noon)
			_ = d.recoverable(noon)
		}
	})
}
