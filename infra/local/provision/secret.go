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
	var arn string
	var missing *types.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		if arn, err = p.createSecret(ctx, want); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("describe: %w", err)
	case found.DeletedDate != nil:
		return errors.New("is scheduled for deletion: restore it, or delete it without recovery")
	default:
		arn = aws.ToString(found.ARN)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.actual[want.ARN] = arn
	return nil
}

func (p *provisioner) createSecret(ctx context.Context, want resources.Secret) (arn string, err error) {
	value := want.Literal
	if want.Generate != nil {
		if value, err = secrets.Generate(*want.Generate); err != nil {
			return "", err
		}
	}
	created, err := p.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{
		Name: &want.Name, Description: optional(want.Description), SecretString: optional(value),
	})
	if err != nil {
		return "", fmt.Errorf("create: %w", err)
	}
	p.note("secrets", want.Name)
	return aws.ToString(created.ARN), nil
}
