package platform

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAWSPort checks which service handles which request on the port, and that pages of other origins reach only the
// code host and S3.
func TestAWSPort(t *testing.T) {
	t.Parallel()
	named := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(name)) })
	}
	port := (&awsPort{
		dynamodb: named("dynamodb"), sqs: named("sqs"), secrets: named("secrets"), s3: named("s3"), ses: named("ses"),
		codehost: named("codehost"),
	}).handler()
	const presigned = "X-Amz-Credential=local%2F20261123%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Signature=0"
	for _, tc := range []struct {
		path, target, origin string
		status               int
		text                 string
	}{
		{"GET /bucket/key", "", "https://elsewhere.example", 200, "s3"},
		{"OPTIONS /bucket/key", "", "https://elsewhere.example", 200, "s3"},
		{"GET /2015-03-31/functions", "", "", 400, "does not have"},
		{"/bucket/key?uploads&" + presigned, "", "https://elsewhere.example", 200, "s3"}, // S3 decides itself about origins
		{"/2015-03-31/functions?" + presigned, "", "", 200, "s3"},
		{"/bucket/key?" + presigned, "AmazonSQS.SendMessage", "https://elsewhere.example", 403, "cross-origin"},
		{"/bucket/key?" + strings.Replace(presigned, "s3", "sqs", 1), "", "", 400, "does not have"},
		{"/v2/email/outbound-emails?" + strings.Replace(presigned, "s3", "ses", 1), "", "", 200, "ses"},
		{"GET /v2/email/account?" + strings.Replace(presigned, "s3", "ses", 1), "", "", 200, "ses"},
		{"/v2/email/outbound-emails", "", "", 400, "does not have"}, // not signed
		{"/bucket/key?AWSAccessKeyId=local", "", "", 200, "s3"},
		{"/", "DynamoDB_20120810.GetItem", "", 200, "dynamodb"},
		{"/", "secretsmanager.GetSecretValue", "", 200, "secrets"},
		{"/", "AmazonSQS.SendMessage", "", 200, "sqs"},
		{"/", "AmazonSQS.SendMessage", "https://elsewhere.example", 403, "cross-origin"},
		{"/codehost/login/oauth/authorize", "", "https://elsewhere.example", 200, "codehost"},
		{"/", "DynamoDBStreams_20120810.ListStreams", "", 200, "dynamodb"},
		{"/", "DynamoDBStreams_20120810.ListStreams", "https://elsewhere.example", 403, "cross-origin"},
		{"/", "Kinesis_20131202.ListStreams", "", 400, "Kinesis_20131202.ListStreams"},
		{"/2015-03-31/functions", "", "", 400, "does not have"}, // no function can start yet
		{"/", "", "", 400, "does not have"},
		{"/", "DynamoDB_20120810.GetItem", "https://elsewhere.example", 403, "cross-origin"},
	} {
		method, path, found := strings.Cut(tc.path, " ")
		if !found {
			method, path = http.MethodPost, tc.path
		}
		r := httptest.NewRequest(method, "http://localhost:4566"+path, nil)
		if tc.target != "" {
			r.Header.Set("X-Amz-Target", tc.target)
		}
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		w := httptest.NewRecorder()
		port.ServeHTTP(w, r)
		if body := w.Body.String(); w.Code != tc.status || !strings.Contains(body, tc.text) {
			t.Errorf("%s %s from %q: %d %s, want %d %s", tc.path, tc.target, tc.origin, w.Code, body, tc.status, tc.text)
		}
	}
}
