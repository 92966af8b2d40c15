"""Version 1 of the contract: protobuf messages and gRPC services, generated from the protos."""
