// Command projects is the Lambda function behind /api/workspaces, /api/invitations and /api/projects.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.Start(newHandler) }
