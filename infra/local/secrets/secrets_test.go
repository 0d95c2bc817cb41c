package secrets_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/secrets"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// service is a store behind a server, a client of AWS's for it, and its clock.
type service struct {
	*secretsmanager.Client
	url string
	mu  sync.Mutex
	now time.Time
}

func (s *service) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *service) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func open(t *testing.T, dir string) *service {
	t.Helper()
	s := &service{now: start}
	store, err := secrets.Open(secrets.Options{Dir: dir, Now: s.clock})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(store)
	t.Cleanup(server.Close)
	s.url = server.URL
	// The SDK may close a connection while it reads a long response (aws-sdk-go-v2 issue 2737). It retries such a call,
	// so these tests keep its default number of attempts.
	s.Client = secretsmanager.New(secretsmanager.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	return s
}

func (s *service) create(t *testing.T, name, value string) *secretsmanager.CreateSecretOutput {
	t.Helper()
	out, err := s.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: &value})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *service) put(t *testing.T, name, value string, stages ...string) string {
	t.Helper()
	out, err := s.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: &name, SecretString: &value, VersionStages: stages})
	if err != nil {
		t.Fatal(err)
	}
	return *out.VersionId
}

// value gives what is under a label, or the error's type and message.
func (s *service) value(ctx context.Context, id, stage string) string {
	in := &secretsmanager.GetSecretValueInput{SecretId: &id}
	if stage != "" {
		in.VersionStage = &stage
	}
	out, err := s.GetSecretValue(ctx, in)
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

func TestGetSecretValue(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	made := s.create(t, "app/keys", "one")
	if !regexp.MustCompile(`^arn:aws:secretsmanager:us-east-1:000000000000:secret:app/keys-[a-z0-9]{6}$`).MatchString(*made.ARN) {
		t.Errorf("ARN %s", *made.ARN)
	}
	partial := (*made.ARN)[:len(*made.ARN)-7]
	other := strings.Replace(*made.ARN, "us-east-1", "eu-west-1", 1)
	const missing = "ResourceNotFoundException: Secrets Manager can't find the specified secret."
	for id, want := range map[string]string{
		"app/keys": "one", *made.ARN: "one", partial: "one",
		"app/key": missing, "APP/KEYS": missing, other: missing, *made.ARN + "x": missing,
	} {
		equal(t, s.value(t.Context(), id, ""), want)
	}
	const noLabel = "ResourceNotFoundException: Secrets Manager can't find the specified secret value for staging label: "
	equal(t, s.value(t.Context(), "app/keys", "AWSPREVIOUS"), noLabel+"AWSPREVIOUS")
	equal(t, s.value(t.Context(), "app/keys", "AWSPENDING"), noLabel+"AWSPENDING")

	out, err := s.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("app/keys"), VersionId: made.VersionId})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, out.VersionStages, []string{"AWSCURRENT"})
	equal(t, *out.CreatedDate, start)
	_, err = s.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("app/keys"), VersionId: aws.String(strings.Repeat("0", 36))})
	equal(t, failure(err), "ResourceNotFoundException: Secrets Manager can't find the specified secret value for VersionId: "+strings.Repeat("0", 36))
	_, err = s.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{
		SecretId: aws.String("app/keys"), VersionId: made.VersionId, VersionStage: aws.String("AWSPENDING"),
	})
	equal(t, failure(err), "InvalidRequestException: You provided a VersionStage that is not associated to the provided VersionId.")
	var typed *types.ResourceNotFoundException
	_, err = s.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("nothing")})
	if !errors.As(err, &typed) {
		t.Errorf("%v is not typed", err)
	}
}

func TestVersionsMove(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	first := *s.create(t, "k", "one").VersionId
	second := s.put(t, "k", "two")
	equal(t, s.value(t.Context(), "k", "AWSPREVIOUS"), "one")
	pending := s.put(t, "k", "three", "AWSPENDING")
	equal(t, s.value(t.Context(), "k", ""), "two")
	equal(t, s.value(t.Context(), "k", "AWSPENDING"), "three")

	// A rotation ends by moving the label; it must say where from.
	move := &secretsmanager.UpdateSecretVersionStageInput{SecretId: aws.String("k"), VersionStage: aws.String("AWSCURRENT"), MoveToVersionId: &pending}
	_, err := s.UpdateSecretVersionStage(t.Context(), move)
	equal(t, failure(err), "InvalidParameterException: The parameter RemoveFromVersionId can't be empty. Staging label AWSCURRENT is currently attached to version "+
		second+", so you must explicitly reference that version in RemoveFromVersionId.")
	move.RemoveFromVersionId = &second
	if _, err := s.UpdateSecretVersionStage(t.Context(), move); err != nil {
		t.Fatal(err)
	}
	equal(t, s.value(t.Context(), "k", ""), "three")
	equal(t, s.value(t.Context(), "k", "AWSPREVIOUS"), "two")

	described, err := s.DescribeSecret(t.Context(), &secretsmanager.DescribeSecretInput{SecretId: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, described.VersionIdsToStages, map[string][]string{second: {"AWSPREVIOUS"}, pending: {"AWSPENDING", "AWSCURRENT"}})

	// Back to what was before: the two labels change places.
	move.MoveToVersionId, move.RemoveFromVersionId = &second, &pending
	if _, err := s.UpdateSecretVersionStage(t.Context(), move); err != nil {
		t.Fatal(err)
	}
	equal(t, s.value(t.Context(), "k", ""), "two")
	equal(t, s.value(t.Context(), "k", "AWSPREVIOUS"), "three")

	listed, err := s.ListSecretVersionIds(t.Context(), &secretsmanager.ListSecretVersionIdsInput{SecretId: aws.String("k"), IncludeDeprecated: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, v := range listed.Versions {
		ids = append(ids, *v.VersionId)
	}
	equal(t, ids, []string{first, second, pending})
}

func TestTokensMakeWritesRepeatable(t *testing.T) {
	t.Parallel()
	s := open(t, "")
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
	equal(t, failure(err), "ResourceExistsException: The operation failed because the secret k already exists.")

	put := &secretsmanager.PutSecretValueInput{SecretId: aws.String("k"), SecretString: aws.String("two"), ClientRequestToken: create.ClientRequestToken}
	for range 2 {
		if _, err := s.PutSecretValue(t.Context(), put); err != nil {
			t.Fatal(err)
		}
	}
	put.SecretString = aws.String("three")
	_, err = s.PutSecretValue(t.Context(), put)
	if got := failure(err); !strings.HasPrefix(got, "ResourceExistsException: You can't use ClientRequestToken uuu") {
		t.Error(got)
	}
	equal(t, s.value(t.Context(), "k", ""), "two")
	put.ClientRequestToken = aws.String("short")
	_, err = s.PutSecretValue(t.Context(), put)
	equal(t, failure(err), "InvalidParameterException: ClientRequestToken must be 32-64 characters long.")
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	if _, err := s.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("empty")}); err != nil {
		t.Fatal(err)
	}
	equal(t, s.value(t.Context(), "empty", ""), "ResourceNotFoundException: Secrets Manager can't find the specified secret value for staging label: AWSCURRENT")
	s.put(t, "empty", "now pending and current", "AWSPENDING")
	equal(t, s.value(t.Context(), "empty", ""), "now pending and current")

	blob := []byte{0, 255, 10}
	if _, err := s.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: aws.String("empty"), SecretBinary: blob}); err != nil {
		t.Fatal(err)
	}
	out, err := s.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("empty")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, out.SecretBinary, blob)
	equal(t, out.SecretString, (*string)(nil))

	largest := strings.Repeat("<", 65536)
	s.put(t, "empty", largest)
	equal(t, s.value(t.Context(), "empty", ""), largest)
	for want, in := range map[string]*secretsmanager.PutSecretValueInput{
		"InvalidRequestException: You must provide either SecretString or SecretBinary.":                                      {},
		"InvalidParameterException: A secret's value can have 65536 bytes at most.":                                           {SecretString: aws.String(largest + "x")},
		"InvalidParameterException: A version can have 20 staging labels at most.":                                            {SecretString: aws.String("x"), VersionStages: make([]string, 21)},
		"InvalidRequestException: You can't specify both a binary secret value and a string secret value in the same secret.": {SecretString: aws.String("x"), SecretBinary: blob},
	} {
		in.SecretId = aws.String("empty")
		_, err := s.PutSecretValue(t.Context(), in)
		equal(t, failure(err), want)
	}
}

func TestUnlabelledVersionsGo(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	s.create(t, "k", "0")
	for range 110 {
		s.put(t, "k", "x")
	}
	listed, err := s.ListSecretVersionIds(t.Context(), &secretsmanager.ListSecretVersionIdsInput{SecretId: aws.String("k"), IncludeDeprecated: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, len(listed.Versions), 100)
	equal(t, s.value(t.Context(), "k", "AWSPREVIOUS"), "x")
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	s.create(t, "k", "one")
	id := aws.String("k")
	_, err := s.DeleteSecret(t.Context(), &secretsmanager.DeleteSecretInput{SecretId: id, RecoveryWindowInDays: aws.Int64(6)})
	equal(t, failure(err), "InvalidParameterException: The RecoveryWindowInDays value must be between 7 and 30 days (inclusive).")
	deleted, err := s.DeleteSecret(t.Context(), &secretsmanager.DeleteSecretInput{SecretId: id, RecoveryWindowInDays: aws.Int64(7)})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, *deleted.DeletionDate, start.Add(7*24*time.Hour))
	const marked = "InvalidRequestException: You can't perform this operation on the secret because it was marked for deletion."
	equal(t, s.value(t.Context(), "k", ""), marked)
	_, err = s.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: id})
	equal(t, failure(err), "InvalidRequestException: You can't create this secret because a secret with this name is already scheduled for deletion.")

	if _, err := s.RestoreSecret(t.Context(), &secretsmanager.RestoreSecretInput{SecretId: id}); err != nil {
		t.Fatal(err)
	}
	equal(t, s.value(t.Context(), "k", ""), "one")

	if _, err := s.DeleteSecret(t.Context(), &secretsmanager.DeleteSecretInput{SecretId: id}); err != nil {
		t.Fatal(err)
	}
	s.wait(30 * 24 * time.Hour)
	const missing = "ResourceNotFoundException: Secrets Manager can't find the specified secret."
	equal(t, s.value(t.Context(), "k", ""), missing)
	s.create(t, "k", "again")

	for range 2 { // deleting what isn't there is no error when forced
		if _, err := s.DeleteSecret(t.Context(), &secretsmanager.DeleteSecretInput{SecretId: id, ForceDeleteWithoutRecovery: aws.Bool(true)}); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, s.value(t.Context(), "k", ""), missing)
}

func TestListSecrets(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	for _, name := range []string{"b", "c", "a"} {
		s.create(t, name, name)
	}
	var names []string
	pages := secretsmanager.NewListSecretsPaginator(s.Client, &secretsmanager.ListSecretsInput{MaxResults: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range page.SecretList {
			names = append(names, *entry.Name)
			equal(t, len(entry.SecretVersionsToStages), 1)
		}
	}
	equal(t, names, []string{"b", "c", "a"})
	_, err := s.ListSecrets(t.Context(), &secretsmanager.ListSecretsInput{NextToken: aws.String("?")})
	equal(t, failure(err), "InvalidNextTokenException: The NextToken value is invalid.")
	_, err = s.ListSecrets(t.Context(), &secretsmanager.ListSecretsInput{Filters: []types.Filter{{Key: types.FilterNameStringTypeName, Values: []string{"b"}}}})
	equal(t, failure(err), "InvalidParameterException: Parameter Filters is not supported by the local platform.")
}

func TestUpdateSecret(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	s.create(t, "k", "one")
	if _, err := s.UpdateSecret(t.Context(), &secretsmanager.UpdateSecretInput{SecretId: aws.String("k"), Description: aws.String("about"), SecretString: aws.String("two")}); err != nil {
		t.Fatal(err)
	}
	described, err := s.DescribeSecret(t.Context(), &secretsmanager.DescribeSecretInput{SecretId: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, *described.Description, "about")
	equal(t, s.value(t.Context(), "k", "AWSPREVIOUS"), "one")
}

func TestWireErrors(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	for name, test := range map[string]struct{ target, body, want string }{
		"unknown operation": {"secretsmanager.RotateSecret", `{}`, "UnknownOperationException: RotateSecret is not supported by the local platform."},
		"no operation":      {"", `{}`, "UnknownOperationException: Send POST with X-Amz-Target secretsmanager.<Operation>."},
		"no JSON":           {"secretsmanager.GetSecretValue", `{`, "SerializationException: The request is no valid JSON of the expected kind."},
		"wrong kind":        {"secretsmanager.GetSecretValue", `{"SecretId":1}`, "SerializationException: The request is no valid JSON of the expected kind."},
		"other case":        {"secretsmanager.GetSecretValue", `{"secretid":"k"}`, "InvalidParameterException: Parameter secretid is not supported by the local platform."},
		"no id":             {"secretsmanager.GetSecretValue", `{}`, "InvalidParameterException: You must provide a value for the SecretId parameter."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("X-Amz-Target", test.target)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			var answer map[string]string
			if err := json.Unmarshal(body, &answer); err != nil {
				t.Fatal(err)
			}
			equal(t, answer["__type"]+": "+answer["Message"], test.want)
			equal(t, response.StatusCode, http.StatusBadRequest)
			equal(t, response.Header.Get("Content-Type"), "application/x-amz-json-1.1")
		})
	}
	_, err := s.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("no blanks")})
	if got := failure(err); !strings.HasPrefix(got, "InvalidParameterException: Invalid name.") {
		t.Error(got)
	}
}
