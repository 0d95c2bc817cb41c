package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"devplatform/infra/operator/audit"
	"devplatform/shared/config"
)

func TestIdentity(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:sts::123456789012:assumed-role/OperatorRole/ada"
	status, body := http.StatusOK, `{"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Account":"123456789012",`+
		`"Arn":"`+arn+`","UserId":"AROA1:ada"},"ResponseMetadata":{"RequestId":"1"}}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if string(text) != "Action=GetCallerIdentity&Version=2011-06-15" || r.Header.Get("X-Amz-Security-Token") != "token" ||
			!strings.Contains(r.Header.Get("Authorization"), "Credential=id/20310505/eu-west-1/sts/aws4_request") {
			t.Errorf("got the request %s with %v", text, r.Header)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	cfg := config.AWS{Region: "eu-west-1", AccessKeyID: "id", SecretAccessKey: "key", SessionToken: "token"}
	now := func() time.Time { return time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC) }
	got, err := callerIdentity(t.Context(), cfg, server.URL, now)
	if want := (audit.Operator{ID: "AROA1:ada", Name: arn}); err != nil || got != want {
		t.Errorf("got %+v and %v, want %+v", got, err, want)
	}
	for _, bad := range []string{"", "{}", "<xml/>"} {
		body = bad
		if _, err := callerIdentity(t.Context(), cfg, server.URL, now); err == nil {
			t.Errorf("the response %q was accepted", bad)
		}
	}
	status = http.StatusForbidden
	if _, err := callerIdentity(t.Context(), cfg, server.URL, now); err == nil {
		t.Error("a response with status 403 was accepted")
	}
	if local, err := identify(t.Context(), config.AWS{Endpoint: "http://127.0.0.1:4566"}); err != nil || local.Name == "" {
		t.Errorf("on the local platform: got %+v and %v", local, err)
	}
}
