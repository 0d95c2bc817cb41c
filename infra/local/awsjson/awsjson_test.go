package awsjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	awsxml "github.com/aws/aws-sdk-go-v2/aws/protocol/xml"

	"devplatform/infra/local/datafolder"
)

const authorization = "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/test/aws4_request, SignedHeaders=host, Signature=0"

type input struct {
	Name string `json:"Name"`
	Fail string `json:"Fail"`
}

type output struct {
	Greeting string `json:"Greeting"`
}

var errOfValue = errors.New("bad value")

func greet(ctx context.Context, in *input) (*output, error) {
	switch in.Fail {
	case "refused":
		return nil, fmt.Errorf("greeting: %w", &Error{Type: "ns#Refused", Message: "no", Status: 409, QueryError: "Refused;Sender", Fields: map[string]any{"Item": 1}})
	case "converted":
		return nil, errOfValue
	case "internal":
		return nil, errors.New("disk on fire")
	}
	return &output{in.Name + " at " + BaseURL(ctx)}, nil
}

func service(log *bytes.Buffer) *Service {
	return &Service{
		Name: "greeter", ContentType: Version10, MaxRequestBytes: 100, Logger: slog.New(slog.NewTextHandler(log, nil)),
		CRC32:   true,
		Targets: map[string]Operations{"Greeter.": {"Greet": Handle(greet)}},
		Convert: func(err error) *Error {
			if errors.Is(err, errOfValue) {
				return &Error{Type: "Converted"}
			}
			return nil
		},
	}
}

func TestService(t *testing.T) {
	t.Parallel()
	const serialization = `{"__type":"` + TypeSerialization + `","message":`
	for name, test := range map[string]struct {
		body   string
		change func(*http.Request)
		status int
		want   string
		logged string
	}{
		"success": {body: `{"Name":"Ann"}`, status: 200, want: `{"Greeting":"Ann at http://example.com"}`},
		"presigned": {body: `{"Name":"Ann"}`, status: 200, want: `{"Greeting":"Ann at http://example.com"}`, change: func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "X-Amz-Signature=0"
		}},
		"method":        {status: 405, change: func(r *http.Request) { r.Method = http.MethodPut }},
		"too large":     {body: strings.Repeat(" ", 101), status: 413, want: `{"__type":"RequestEntityTooLargeException","message":"The request is too large."}`},
		"no target":     {status: 400, want: `"The header X-Amz-Target does not name an operation of greeter."`, change: func(r *http.Request) { r.Header.Del("X-Amz-Target") }},
		"operation":     {status: 400, want: `"The local platform does not have the operation Greeter.Shout."`, change: func(r *http.Request) { r.Header.Set("X-Amz-Target", "Greeter.Shout") }},
		"unsigned":      {status: 400, want: "MissingAuthenticationTokenException", change: func(r *http.Request) { r.Header.Del("Authorization") }},
		"basic auth":    {status: 400, want: "MissingAuthenticationTokenException", change: func(r *http.Request) { r.SetBasicAuth("a", "b") }},
		"signature":     {status: 400, want: "IncompleteSignatureException", change: func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a") }},
		"no date":       {status: 400, want: "IncompleteSignatureException", change: func(r *http.Request) { r.Header.Del("X-Amz-Date") }},
		"not JSON":      {body: `{`, status: 400, want: serialization + `"The request's body is not valid JSON."}`},
		"not an object": {body: `[]`, status: 400, want: serialization + `"The request's body must be a JSON object."}`},
		"type":          {body: `{"Name":1}`, status: 400, want: serialization + `"The parameter Name has the wrong type or value (a JSON number)."}`},
		"unknown":       {body: `{"Colour":1}`, status: 400, want: serialization + `"The local platform does not support the parameter Colour."}`},
		"refused":       {body: `{"Fail":"refused"}`, status: 409, want: `{"__type":"ns#Refused","message":"no","Item":1}`},
		"converted":     {body: `{"Fail":"converted"}`, status: 400, want: `{"__type":"Converted"}`},
		"internal":      {body: `{"Fail":"internal"}`, status: 500, want: `"InternalServerError"`, logged: "disk on fire"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(test.body))
			request.Header.Set("X-Amz-Target", "Greeter.Greet")
			request.Header.Set("X-Amz-Date", "20260101T000000Z")
			request.Header.Set("Authorization", authorization)
			if test.change != nil {
				test.change(request)
			}
			var log bytes.Buffer
			response := httptest.NewRecorder()
			service(&log).ServeHTTP(response, request)
			if got := response.Body.String(); response.Code != test.status || !strings.Contains(got, test.want) {
				t.Errorf("got %d %s, want %d %s", response.Code, got, test.status, test.want)
			}
			if got := log.String(); (got != "") != (test.logged != "") || !strings.Contains(got, test.logged) {
				t.Errorf("logged %q, want %q", got, test.logged)
			}
			if len(response.Header().Get("X-Amzn-Requestid")) != 36 {
				t.Errorf("headers %v", response.Header())
			}
			checksum := fmt.Sprint(crc32.ChecksumIEEE(response.Body.Bytes()))
			if got := response.Header().Get("X-Amz-Crc32"); got != checksum && name != "method" {
				t.Errorf("checksum %s, want %s", got, checksum)
			}
			if got := response.Header().Get("X-Amzn-Query-Error"); (got == "Refused;Sender") != (name == "refused") {
				t.Errorf("query error %q", got)
			}
		})
	}
}

func TestClosedFolder(t *testing.T) {
	t.Parallel()
	s := service(&bytes.Buffer{})
	folder, err := datafolder.Open(datafolder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Folder = folder
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{`))
	request.Header = http.Header{"X-Amz-Target": {"Greeter.Greet"}, "Authorization": {authorization}, "Date": {"today"}}
	response := httptest.NewRecorder()
	s.ServeHTTP(response, request)
	if response.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d %s", response.Code, response.Body)
	}
}

// SDKs must be able to parse the error of a service that the platform does not have.
func TestRejectService(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		service, contentType, target string
		wantType, want               string
	}{
		"query":   {service: "sts", contentType: "application/x-www-form-urlencoded; charset=utf-8", wantType: "text/xml", want: "AWS service sts"},
		"S3":      {service: "s3", wantType: "application/xml", want: "AWS service s3"},
		"JSON":    {service: "kms", contentType: Version11, target: "TrentService.Encrypt", wantType: Version10, want: "X-Amz-Target TrentService.Encrypt"},
		"REST":    {service: "apigateway", wantType: Version10, want: "AWS service apigateway"},
		"neither": {wantType: Version10, want: "does not have this service"},
	} {
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("Action=GetCallerIdentity"))
		request.Header = http.Header{"Content-Type": {test.contentType}, "X-Amz-Target": {test.target}}
		response := httptest.NewRecorder()
		RejectService(response, request, test.service)
		body := response.Body.String()
		if response.Code != http.StatusBadRequest || response.Header().Get("Content-Type") != test.wantType || !strings.Contains(body, test.want) {
			t.Errorf("%s: got %d %v %s", name, response.Code, response.Header(), body)
		}
		if test.wantType == Version10 {
			continue
		}
		parsed, err := awsxml.GetErrorResponseComponents(response.Body, test.service == "s3")
		if err != nil || parsed.Code != "UnknownOperationException" || !strings.Contains(parsed.Message, test.want) {
			t.Errorf("%s: the SDK reads %+v, %v from %s", name, parsed, err, body)
		}
	}
}
