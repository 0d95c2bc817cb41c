package secrets_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/secrets"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// service is an AWS client of a store.
type service struct{ *secretsmanager.Client }

func open(t *testing.T, folder *datafolder.Folder) *service {
	t.Helper()
	store, err := secrets.Open(secrets.Options{Folder: folder, Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(store)
	t.Cleanup(server.Close)
	// The SDK may close a connection while it reads a long response (aws-sdk-go-v2 issue 2737). It retries such a call,
	// so these tests keep its default number of attempts.
	return &service{secretsmanager.New(secretsmanager.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})}
}

func (s *service) create(t *testing.T, name, value string) *secretsmanager.CreateSecretOutput {
	t.Helper()
	out, err := s.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: &value})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *service) put(t *testing.T, name, value string) string {
	t.Helper()
	out, err := s.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: &name, SecretString: &value})
	if err != nil {
		t.Fatal(err)
	}
	return *out.VersionId
}

// value returns the value, or the error's type and message.
func (s *service) value(ctx context.Context, id string) string {
	out, err := s.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	if err != nil {
		return failure(err)
	}
	return aws.ToString(out.SecretString)
}

func failure(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	return api.ErrorCode() + ": " + api.ErrorMessage()
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

const missing = "ResourceNotFoundException: Secrets Manager can't find the specified secret."

func TestGetSecretValue(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	made := s.create(t, "app/keys", "one")
	arn := regexp.MustCompile(`^arn:aws:secretsmanager:us-east-1:000000000000:secret:app/keys-[a-z0-9]{6}$`)
	if !arn.MatchString(*made.ARN) {
		t.Errorf("ARN %s", *made.ARN)
	}
	partial := (*made.ARN)[:len(*made.ARN)-7]
	other := strings.Replace(*made.ARN, "us-east-1", "eu-west-1", 1)
	for id, want := range map[string]string{
		"app/keys": "one", *made.ARN: "one", partial: "one",
		"app/key": missing, "APP/KEYS": missing, other: missing, *made.ARN + "x": missing,
	} {
		equal(t, s.value(t.Context(), id), want)
	}
	out, err := s.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("app/keys")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, out.VersionStages, []string{"AWSCURRENT"})
	equal(t, *out.VersionId, *made.VersionId)
	equal(t, *out.CreatedDate, start)
	_, err = s.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("none")})
	if typed := (*types.ResourceNotFoundException)(nil); !errors.As(err, &typed) {
		t.Errorf("%v is not typed", err)
	}
	_, err = s.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("app/keys"), VersionStage: aws.String("AWSPREVIOUS")})
	equal(t, failure(err), "SerializationException: The local platform does not support the parameter VersionStage.")
}

func TestPut(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.create(t, "k", "one")
	second := s.put(t, "k", "two")
	equal(t, s.value(t.Context(), "k"), "two")
	described, err := s.DescribeSecret(t.Context(), &secretsmanager.DescribeSecretInput{SecretId: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, described.VersionIdsToStages, map[string][]string{second: {"AWSCURRENT"}})
}

func TestTokensMakeWritesRepeatable(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	token := aws.String(strings.Repeat("t", 32))
	create := &secretsmanager.CreateSecretInput{Name: aws.String("k"), SecretString: aws.String("one"), ClientRequestToken: token}
	for range 2 {
		made, err := s.CreateSecret(t.Context(), create)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, made.VersionId, token)
	}
	create.ClientRequestToken = aws.String(strings.Repeat("u", 32))
	_, err := s.CreateSecret(t.Context(), create)
	equal(t, failure(err), "ResourceExistsException: The secret k already exists.")

	put := &secretsmanager.PutSecretValueInput{SecretId: aws.String("k"), SecretString: aws.String("two"), ClientRequestToken: create.ClientRequestToken}
	for range 2 {
		if _, err := s.PutSecretValue(t.Context(), put); err != nil {
			t.Fatal(err)
		}
	}
	put.SecretString = aws.String("three")
	_, err = s.PutSecretValue(t.Context(), put)
	if got := failure(err); !strings.HasPrefix(got, "ResourceExistsException: ClientRequestToken uuu") {
		t.Error(got)
	}
	equal(t, s.value(t.Context(), "k"), "two")
	put.ClientRequestToken = aws.String("short")
	_, err = s.PutSecretValue(t.Context(), put)
	equal(t, failure(err), "InvalidParameterException: ClientRequestToken must be 32-64 characters long.")
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	id := aws.String("k")
	s.create(t, "k", "")
	largest := strings.Repeat("<", 65536)
	s.put(t, "k", largest)
	equal(t, s.value(t.Context(), "k"), largest)
	for want, in := range map[string]*secretsmanager.PutSecretValueInput{
		"InvalidParameterException: You must provide a value for the SecretString parameter.":     {SecretId: id},
		"InvalidParameterException: The value must have at most 65536 bytes.":                     {SecretId: id, SecretString: aws.String(largest + "x")},
		"SerializationException: The local platform does not support the parameter SecretBinary.": {SecretId: id, SecretBinary: []byte{0}},
		"InvalidParameterException: You must provide a value for the SecretId parameter.":         {SecretId: aws.String(""), SecretString: id},
		missing: {SecretId: aws.String("none"), SecretString: id},
	} {
		_, err := s.PutSecretValue(t.Context(), in)
		equal(t, failure(err), want)
	}
	_, err := s.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("with blanks")})
	equal(t, failure(err), "InvalidParameterException: Name must have 1 to 512 letters, digits, and characters of /_+=.@-.")
	_, err = s.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("none")})
	equal(t, failure(err), "InvalidParameterException: You must provide a value for the SecretString parameter.")
	_, err = s.ListSecrets(t.Context(), &secretsmanager.ListSecretsInput{})
	equal(t, failure(err), "UnknownOperationException: The local platform does not have the operation secretsmanager.ListSecrets.")
}
