package provision

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"devplatform/infra/local/secrets"
	"devplatform/infra/local/stack"
)

// secret creates a secret with its first value. A secret that exists is not changed.
func (p *provisioner) secret(ctx context.Context, want stack.Secret) error {
	arn, err := p.describeSecret(ctx, want.Name)
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		arn, err = p.createSecret(ctx, want)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arns[want.LogicalID] = arn
	return nil
}

func (p *provisioner) describeSecret(ctx context.Context, name string) (arn string, err error) {
	found, err := p.secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &name})
	if err != nil {
		return "", fmt.Errorf("describe: %w", err)
	}
	if found.DeletedDate != nil {
		return "", errors.New("is scheduled for deletion: restore it, or delete it without recovery")
	}
	return aws.ToString(found.ARN), nil
}

func (p *provisioner) createSecret(ctx context.Context, want stack.Secret) (arn string, err error) {
	in := &secretsmanager.CreateSecretInput{Name: &want.Name}
	if want.Description != "" {
		in.Description = &want.Description
	}
	if want.Literal != "" {
		in.SecretString = &want.Literal
	}
	if want.Generate != nil {
		value, err := secrets.Generate(*want.Generate)
		if err != nil {
			return "", err
		}
		in.SecretString = &value
	}
	made, err := p.secrets.CreateSecret(ctx, in)
	var exists *types.ResourceExistsException
	if errors.As(err, &exists) { // another process has created it
		return p.describeSecret(ctx, want.Name)
	}
	if err != nil {
		return "", fmt.Errorf("create: %w", err)
	}
	p.note(&p.made.Secrets, want.Name)
	return aws.ToString(made.ARN), nil
}
