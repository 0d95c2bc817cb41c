package secrets

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/resources"
)

// Limits of AWS.
const (
	maxValueBytes   = 65536
	minTokenLength  = 32
	maxTokenLength  = 64
	maxRequestBytes = 1 << 20 // leaves room for a value with escapes
)

const stageCurrent = "AWSCURRENT"

const targetPrefix = "secretsmanager."

func (s *Store) service() *awsjson.Service {
	return &awsjson.Service{
		Name: "secrets", ContentType: awsjson.Version11, MaxRequestBytes: maxRequestBytes,
		Logger: s.options.Logger,
		Targets: map[string]awsjson.Operations{targetPrefix: {
			"CreateSecret":   awsjson.Handle(s.createSecret),
			"DescribeSecret": awsjson.Handle(s.describeSecret),
			"GetSecretValue": awsjson.Handle(s.getSecretValue),
			"PutSecretValue": awsjson.Handle(s.putSecretValue),
		}},
	}
}

func invalidParameter(format string, args ...any) error {
	return &awsjson.Error{Type: "InvalidParameterException", Message: fmt.Sprintf(format, args...)}
}

func alreadyExists(format string, args ...any) error {
	return &awsjson.Error{Type: "ResourceExistsException", Message: fmt.Sprintf(format, args...)}
}

func epoch(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

type writtenOutput struct {
	ARN           string   `json:"ARN"`
	Name          string   `json:"Name"`
	VersionID     string   `json:"VersionId"`
	VersionStages []string `json:"VersionStages"`
}

func (sec *secret) writtenOutput() *writtenOutput {
	return &writtenOutput{ARN: sec.ARN, Name: sec.Name, VersionID: sec.Version, VersionStages: []string{stageCurrent}}
}

// newValue is the value in a request. The token identifies the request when it is repeated, and is the version's ID.
type newValue struct {
	ClientRequestToken string  `json:"ClientRequestToken"`
	SecretString       *string `json:"SecretString"`
}

func (in *newValue) check() error {
	switch n := len(in.ClientRequestToken); {
	case n > 0 && (n < minTokenLength || n > maxTokenLength):
		return invalidParameter("ClientRequestToken must be %d-%d characters long.", minTokenLength, maxTokenLength)
	case in.SecretString == nil:
		return invalidParameter("You must provide a value for the SecretString parameter.")
	case len(*in.SecretString) > maxValueBytes:
		return invalidParameter("The value must have at most %d bytes.", maxValueBytes)
	}
	return nil
}

// isRepeated reports whether the request has set the current value before.
func (in *newValue) isRepeated(sec *secret) bool {
	return in.ClientRequestToken == sec.Version && *in.SecretString == sec.Value
}

type createSecretInput struct {
	newValue

	Name        string `json:"Name"`
	Description string `json:"Description"`
}

var secretName = regexp.MustCompile(`^[A-Za-z0-9/_+=.@-]{1,512}$`)

func (s *Store) createSecret(_ context.Context, in *createSecretInput) (out *writtenOutput, err error) {
	if !secretName.MatchString(in.Name) {
		return nil, invalidParameter("Name must have 1 to 512 letters, digits, and characters of /_+=.@-.")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	err = s.change(func(all *[]secret) error {
		if i := slices.IndexFunc(*all, func(sec secret) bool { return sec.Name == in.Name }); i >= 0 {
			out = (*all)[i].writtenOutput()
			if !in.isRepeated(&(*all)[i]) {
				return alreadyExists("The secret %s already exists.", in.Name)
			}
			return nil
		}
		created := secret{
			Name: in.Name, ARN: resources.SecretARN(s.options.Region, s.options.Account, in.Name), Description: in.Description,
			Created: s.now(),
		}
		created.put(&in.newValue, s.now())
		out = created.writtenOutput()
		*all = append(*all, created)
		return nil
	})
	return out, err
}

type putSecretValueInput struct {
	newValue

	SecretID string `json:"SecretId"`
}

func (s *Store) putSecretValue(_ context.Context, in *putSecretValueInput) (out *writtenOutput, err error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	err = s.change(func(all *[]secret) error {
		found, err := s.find(*all, in.SecretID)
		switch {
		case err != nil:
			return err
		case in.isRepeated(found):
		case in.ClientRequestToken == found.Version:
			return alreadyExists("ClientRequestToken %s is already in use for another value of %s.", found.Version, found.Name)
		default:
			found.put(&in.newValue, s.now())
		}
		out = found.writtenOutput()
		return nil
	})
	return out, err
}

// put replaces the value.
func (sec *secret) put(in *newValue, now time.Time) {
	sec.Version, sec.Value, sec.Changed = cmp.Or(in.ClientRequestToken, uuid.NewString()), *in.SecretString, now
}

// secretRequest names a secret. Only its current value can be read.
type secretRequest struct {
	SecretID string `json:"SecretId"`
}

type secretValueOutput struct {
	writtenOutput

	CreatedDate  float64 `json:"CreatedDate"`
	SecretString string  `json:"SecretString"`
}

func (s *Store) getSecretValue(_ context.Context, in *secretRequest) (*secretValueOutput, error) {
	found, err := s.read(in.SecretID)
	if err != nil {
		return nil, err
	}
	return &secretValueOutput{
		writtenOutput: *found.writtenOutput(), CreatedDate: epoch(found.Changed), SecretString: found.Value,
	}, nil
}

type describeSecretOutput struct {
	ARN                string              `json:"ARN"`
	Name               string              `json:"Name"`
	Description        string              `json:"Description,omitzero"`
	CreatedDate        float64             `json:"CreatedDate"`
	LastChangedDate    float64             `json:"LastChangedDate"`
	VersionIDsToStages map[string][]string `json:"VersionIdsToStages"`
}

func (s *Store) describeSecret(_ context.Context, in *secretRequest) (*describeSecretOutput, error) {
	found, err := s.read(in.SecretID)
	if err != nil {
		return nil, err
	}
	return &describeSecretOutput{
		ARN: found.ARN, Name: found.Name, Description: found.Description, CreatedDate: epoch(found.Created),
		LastChangedDate: epoch(found.Changed), VersionIDsToStages: map[string][]string{found.Version: {stageCurrent}},
	}, nil
}
