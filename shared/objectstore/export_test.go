package objectstore

import "github.com/aws/aws-sdk-go-v2/service/s3"

// SDKOptions returns the options of a client's SDK client.
func SDKOptions(c *Client) s3.Options { return c.sdk().Options() }
