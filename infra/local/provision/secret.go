package provision

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"devplatform/infra/local/resources"
	"devplatform/infra/local/secrets"
)

// secret creates a secret with its first value. A secret that exists is not changed.
func (p *provisioner) secret(ctx context.Context, want resources.Secret) error {
	found, err := p.secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &want.Name})
	if _, isMissing := errors.AsType[*types.ResourceNotFoundException](err); isMissing {
		value, err := secrets.Generate(want.Generate)
		if err != nil {
			return err
		}
		created, err := p.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{
			Name: &want.Name, Description: optional(want.Description), SecretString: &value,
		})
		if err != nil {
			return fmt.Errorf("create: %w", err)
		}
		p.note("secrets", want.Name)
		return checkIdentifier("ARN", aws.ToString(created.ARN), want.ARN)
	}
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	return checkIdentifier("ARN", aws.ToString(found.ARN), want.ARN)
}
