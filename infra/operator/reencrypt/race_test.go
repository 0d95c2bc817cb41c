package reencrypt

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/webhook/delivery"
)

// keyOf returns the ID of the key with which a session token is signed.
func (s *service) keyOf(session string) string {
	s.t.Helper()
	header, _, _ := strings.Cut(session, ".")
	data, err := base64.RawURLEncoding.DecodeString(header)
	s.must(err)
	var fields struct {
		KeyID string `json:"kid"`
	}
	s.must(json.Unmarshal(data, &fields))
	return fields.KeyID
}

// stored returns the webhooks of the table, in no particular order.
func (s *service) stored() (all []delivery.Webhook) {
	s.t.Helper()
	for _, item := range slicetest.Dump(s.t, s.sdk, s.webhooks) {
		if item["secret"] != nil {
			w, err := db.Decode[delivery.Webhook](item)
			s.must(err)
			all = append(all, w)
		}
	}
	return all
}

// A secret that changes while the command runs is not lost, and the replaced secret stays valid.
func TestSecretChangesDuringTheRun(t *testing.T) {
	t.Parallel()
	s := newService(t)
	session := s.signUp("ada")
	webhookID := s.subscribe(session, "/ok")
	read := s.stored()[0]
	s.client(0, session).Do("PUT", "/api/webhooks/"+webhookID, map[string]any{"secret": "the second secret"}).
		Want(t, http.StatusOK)
	s.put(newRing)
	c := s.command()
	r := Result{current: "k2", secrets: map[string]int{}}
	s.must(c.update(t.Context(), &r, read))
	if r.changed != 1 || r.secrets["k2"] != 2 || len(r.secrets) != 1 {
		t.Errorf("got the result %+v, want two secrets with k2", r)
	}
	w := s.stored()[0]
	live, err := c.Secrets.Live(t.Context(), w, s.clock.Now())
	if err != nil || !slices.Equal(live, []string{"the second secret", secret}) {
		t.Errorf("got the secrets %q, %v", live, err)
	}
	if w.Revision != 3 {
		t.Errorf("got revision %d, want 3, so that a concurrent change of the settings does not restore old secrets", w.Revision)
	}
	s.client(0, session).Do("PUT", "/api/webhooks/"+webhookID, map[string]any{"description": "d"}).Want(t, http.StatusOK)
}

// A webhook that is deleted while the command runs stays deleted.
func TestWebhookIsDeletedDuringTheRun(t *testing.T) {
	t.Parallel()
	s := newService(t)
	session := s.signUp("ada")
	webhookID := s.subscribe(session, "/ok")
	read := s.stored()[0]
	s.client(0, session).Do("DELETE", "/api/webhooks/"+webhookID, nil).Want(t, http.StatusOK)
	s.put(newRing)
	r := Result{current: "k2", secrets: map[string]int{}}
	s.must(s.command().update(t.Context(), &r, read))
	if len(s.stored()) != 0 || r.changed != 0 || len(r.secrets) != 0 {
		t.Errorf("got the webhooks %v and the result %+v, want none", s.stored(), r)
	}
}

// The command changes all webhooks that can be decoded, and nothing of them except the secrets and the revision.
func TestRunChangesOnlySecrets(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, name := range []string{"ada", "grace", "linus"} {
		session := s.signUp(name)
		for range 3 {
			s.subscribe(session, "/ok")
		}
	}
	before := s.stored()
	client := db.Wrap(s.sdk, s.clock.Now)
	damaged, damagedID := client.Table(s.webhooks), "wh_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	_, err := client.Do(t.Context(), damaged.Put(
		db.WebhookKey(before[0].WorkspaceID, damagedID), map[string]any{"secret": "x", "createdAt": "yesterday"}))
	s.must(err)
	s.put(newRing)
	out, err := s.reencrypt(t.Context())
	if err != nil || !strings.Contains(out, "of 9 webhooks") || !strings.Contains(out, damagedID+" cannot be decoded") {
		t.Fatalf("got %s, %v", out, err)
	}
	_, err = client.Do(t.Context(), damaged.Delete(db.WebhookKey(before[0].WorkspaceID, damagedID)))
	s.must(err)
	after := map[string]delivery.Webhook{}
	for _, w := range s.stored() {
		after[w.ID] = w
	}
	for _, w := range before {
		got := after[w.ID]
		if delivery.KeyID(got.Secret) != "k2" {
			t.Errorf("got a secret that is encrypted with %s", delivery.KeyID(got.Secret))
		}
		w.Secret, w.Revision = got.Secret, w.Revision+1
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("webhook (-want +got):\n%s", diff)
		}
	}
}
