// Command auth is the Lambda function that serves /api/auth.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.Start(newHandler) }
