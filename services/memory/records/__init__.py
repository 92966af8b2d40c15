"""The records part of the reference memory: MemoryService, the integrity axis (DESIGN §4).

`policy` decides (pure); `schema`, `store`, `postings`, `flow` and `lineage` keep; `writing`,
`recalling`, `lifecycle` and `review` are the service's operations, one durable transaction each;
`servicer` and `registrar` put them on a server. Flawed controls subclass `policy.Policy`.
"""
