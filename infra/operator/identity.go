package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/user"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"devplatform/infra/operator/audit"
	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
)

// maxIdentity is the maximum size of a response of STS that is read.
const maxIdentity = 64 << 10

// identify returns who runs the command: the identity of the AWS credentials, or the user of this machine if the
// command uses a local platform, which has no identities.
func identify(ctx context.Context, cfg config.AWS) (audit.Operator, error) {
	if cfg.Endpoint != "" {
		u, err := user.Current()
		if err != nil {
			return audit.Operator{}, fmt.Errorf("the name of the user of this machine: %w", err)
		}
		return audit.Operator{ID: "local:" + u.Username, Name: u.Username}, nil
	}
	return callerIdentity(ctx, cfg, "https://sts."+cfg.Region+".amazonaws.com/", clock.System)
}

// callerIdentity calls GetCallerIdentity of AWS STS. The module does not have the client of this service, which is only
// needed here.
func callerIdentity(ctx context.Context, cfg config.AWS, endpoint string, now clock.Clock) (audit.Operator, error) {
	const body = "Action=GetCallerIdentity&Version=2011-06-15"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		return audit.Operator{}, fmt.Errorf("identity: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	credentials, err := awsclient.Credentials(cfg).Retrieve(ctx)
	if err != nil {
		return audit.Operator{}, fmt.Errorf("identity: %w", err)
	}
	hash := sha256.Sum256([]byte(body))
	err = v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), "sts", cfg.Region, now())
	if err != nil {
		return audit.Operator{}, fmt.Errorf("identity: %w", err)
	}
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(r)
	if err != nil {
		return audit.Operator{}, fmt.Errorf("identity: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // the body was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxIdentity))
	if err != nil {
		return audit.Operator{}, fmt.Errorf("identity: %w", err)
	}
	var out struct {
		Response struct {
			Result struct {
				ARN    string `json:"Arn"`
				UserID string `json:"UserId"`
			} `json:"GetCallerIdentityResult"`
		} `json:"GetCallerIdentityResponse"`
	}
	if err := json.Unmarshal(text, &out); err != nil || response.StatusCode != http.StatusOK {
		return audit.Operator{}, fmt.Errorf("identity: STS responded with %d: %.300s", response.StatusCode, text)
	}
	who := audit.Operator{ID: out.Response.Result.UserID, Name: out.Response.Result.ARN}
	if who.ID == "" || who.Name == "" {
		return who, fmt.Errorf("identity: STS returned no identity: %.300s", text)
	}
	return who, nil
}
