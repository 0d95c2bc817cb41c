package mailbox_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/mailbox"
	"devplatform/infra/testmode"
)

var start = time.Date(2026, 1, 31, 8, 15, 30, 120e6, time.UTC)

// fixture is a mailbox with a client of its API, and the server of its console.
type fixture struct {
	*sesv2.Client

	console *httptest.Server
	api     string // the URL of the API
	log     *bytes.Buffer
}

// open opens the mailbox in a folder. nil: a new folder in memory.
func open(t *testing.T, folder *datafolder.Folder) *fixture {
	t.Helper()
	if folder == nil {
		folder = openFolder(t, "")
	}
	f := &fixture{log: &bytes.Buffer{}}
	store, err := mailbox.Open(mailbox.Options{
		Folder: folder, Now: func() time.Time { return start }, Logger: slog.New(slog.NewTextHandler(f.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(store)
	t.Cleanup(api.Close)
	f.console = httptest.NewServer(store.Console())
	t.Cleanup(f.console.Close)
	f.api = api.URL
	f.Client = sesv2.New(sesv2.Options{
		Region: "us-east-1", BaseEndpoint: &api.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	return f
}

func openFolder(t *testing.T, dir string) *datafolder.Folder {
	t.Helper()
	folder, err := datafolder.Open(datafolder.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return folder
}

// message returns the request for a mail, with all parameters that are supported.
func message(to, subject, text, html string) *sesv2.SendEmailInput {
	utf8 := func(text string) *types.Content {
		if text == "" {
			return nil
		}
		return &types.Content{Data: &text, Charset: aws.String("UTF-8")}
	}
	return &sesv2.SendEmailInput{
		FromEmailAddress: aws.String("Service <mail@localhost>"),
		Destination:      &types.Destination{ToAddresses: []string{to}},
		Content: &types.EmailContent{Simple: &types.Message{
			Subject: utf8(subject), Body: &types.Body{Text: utf8(text), Html: utf8(html)},
		}},
		ConfigurationSetName: aws.String("mail"),
		EmailTags:            []types.MessageTag{{Name: aws.String("kind"), Value: aws.String("confirm_1-a")}},
	}
}

// send sends a mail and returns its ID.
func (f *fixture) send(t *testing.T, to, subject, text, html string) string {
	t.Helper()
	out, err := f.SendEmail(t.Context(), message(to, subject, text, html))
	if err != nil {
		t.Fatal(err)
	}
	return *out.MessageId
}

func TestRefusedMails(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	const badRequest = "BadRequestException"
	for want, change := range map[string]func(*sesv2.SendEmailInput){
		badRequest + ": FromEmailAddress is not": func(in *sesv2.SendEmailInput) { in.FromEmailAddress = nil },
		badRequest + ": FromEmailAddress is not a mail address in ASCII: \"Grüße <a@b.c>\"": func(in *sesv2.SendEmailInput) {
			in.FromEmailAddress = aws.String("Grüße <a@b.c>")
		},
		badRequest + ": Destination.ToAddresses has 0": func(in *sesv2.SendEmailInput) { in.Destination = nil },
		badRequest + ": Destination.ToAddresses has 2": func(in *sesv2.SendEmailInput) {
			in.Destination.ToAddresses = []string{"a@example.com", "b@example.com"}
		},
		badRequest + ": Destination.ToAddresses is not a mail address in ASCII: \"ada\"": func(in *sesv2.SendEmailInput) {
			in.Destination.ToAddresses = []string{"ada"}
		},
		badRequest + ": Content.Simple.Subject is required": func(in *sesv2.SendEmailInput) {
			in.Content.Simple.Subject.Data = aws.String("")
		},
		badRequest + ": Content.Simple.Subject has a control": func(in *sesv2.SendEmailInput) {
			in.Content.Simple.Subject.Data = aws.String("a\nb")
		},
		badRequest + ": Content.Simple.Body needs": func(in *sesv2.SendEmailInput) {
			in.Content.Simple.Body = &types.Body{}
		},
		badRequest + ": The local platform does not support the character set latin1": func(in *sesv2.SendEmailInput) {
			in.Content.Simple.Body.Text.Charset = aws.String("latin1")
		},
		badRequest + ": EmailTags: \"a b\"": func(in *sesv2.SendEmailInput) { in.EmailTags[0].Name = aws.String("a b") },
		badRequest + ": EmailTags has 51":   func(in *sesv2.SendEmailInput) { in.EmailTags = make([]types.MessageTag, 51) },
		"SerializationException: The local platform does not support the parameter Destination.CcAddresses": func(
			in *sesv2.SendEmailInput,
		) {
			in.Destination.CcAddresses = []string{"b@example.com"}
		},
		"SerializationException: The local platform does not support the parameter Content.Raw": func(in *sesv2.SendEmailInput) {
			in.Content = &types.EmailContent{Raw: &types.RawMessage{Data: []byte("x")}}
		},
		"RequestEntityTooLargeException: ": func(in *sesv2.SendEmailInput) {
			in.Content.Simple.Body.Text.Data = aws.String(strings.Repeat("x", 1<<20))
		},
	} {
		in := message("ada@example.com", "s", "t", "")
		change(in)
		for i, tag := range in.EmailTags {
			if tag.Name == nil {
				in.EmailTags[i] = types.MessageTag{Name: aws.String("a"), Value: aws.String("b")}
			}
		}
		_, err := f.SendEmail(t.Context(), in)
		var got smithy.APIError
		if !errors.As(err, &got) || !strings.HasPrefix(got.ErrorCode()+": "+got.ErrorMessage(), want) {
			t.Errorf("got the error %v, want %s", err, want)
		}
	}
	var typed *types.BadRequestException
	if _, err := f.SendEmail(t.Context(), message("x", "s", "t", "")); !errors.As(err, &typed) {
		t.Errorf("got %v, want the SDK's own type of the error", err)
	}
	var unknown smithy.APIError
	_, err := f.GetAccount(t.Context(), &sesv2.GetAccountInput{})
	if !errors.As(err, &unknown) || !strings.Contains(unknown.ErrorMessage(), "does not have the operation ses.GET /v2/email/account") {
		t.Errorf("another operation: got %v", err)
	}
	var missing *types.NotFoundException
	address := &sesv2.DeleteSuppressedDestinationInput{EmailAddress: aws.String("a/b@example.com")}
	if _, err := f.DeleteSuppressedDestination(t.Context(), address); !errors.As(err, &missing) {
		t.Errorf("deleting a suppressed address: got %v, want NotFoundException", err)
	}
	if mails := f.mails(t, ""); len(mails) > 0 || f.log.Len() > 0 {
		t.Errorf("got the mails %v and the log %s, want none", mails, f.log)
	}
}

// A request without a signature is refused, so that a web page cannot write mails.
func TestUnsignedRequest(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	response, err := http.Post(f.api+"/v2/email/outbound-emails", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	kind := response.Header.Get("X-Amzn-Errortype")
	if response.StatusCode != http.StatusBadRequest || !strings.HasSuffix(kind, "MissingAuthenticationTokenException") {
		t.Errorf("got %d %s", response.StatusCode, kind)
	}
}

func TestBoto3(t *testing.T) {
	t.Parallel()
	testmode.SkipIfShort(t)
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import boto3").Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("boto3 is missing: %v", err)
		}
		t.Skipf("boto3 is not installed: %v", err)
	}
	f := open(t, nil)
	output, err := exec.CommandContext(t.Context(), "python3", "testdata/boto3_client.py", f.api).CombinedOutput()
	if err != nil || len(output) > 0 {
		t.Errorf("%v\n%s", err, output)
	}
	if mails := f.mails(t, ""); len(mails) != 1 || mails[0].Subject != "Grüße" || mails[0].HTML != "<p>Hello" {
		t.Errorf("got the mails %+v", mails)
	}
}

// FuzzSendEmail sends any body. The response must be JSON, and never an internal error.
func FuzzSendEmail(f *testing.F) {
	folder, err := datafolder.Open(datafolder.Options{})
	if err != nil {
		f.Fatal(err)
	}
	store, err := mailbox.Open(mailbox.Options{
		Folder: folder, Now: func() time.Time { return start }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"FromEmailAddress":"a@b","Destination":{"ToAddresses":["c@d"]},"Content":{"Simple":{"Subject":{"Data":"s"},` +
		`"Body":{"Html":{"Data":"<a href='http://x?a&amp;b'>"}}}}}`)
	f.Add(`{"EmailTags":[{}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		const path = "/v2/email/outbound-emails"
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("X-Amz-Date", "20260101T000000Z")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=0")
		w := httptest.NewRecorder()
		store.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError || w.Code != http.StatusOK && w.Header().Get("X-Amzn-Errortype") == "" {
			t.Fatalf("%q: %d %s", body, w.Code, w.Body)
		}
		if w.Code != http.StatusOK {
			return
		}
		list := httptest.NewRecorder()
		store.Console().ServeHTTP(list, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/mail", nil))
		if list.Code != http.StatusOK {
			t.Fatalf("after %q: %d %s", body, list.Code, list.Body)
		}
	})
}
