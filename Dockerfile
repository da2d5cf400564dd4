# Runs a program unattended. Put this file beside main.worker, then: docker build -t triage .
FROM node:24-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
ARG LLM_DO_VERSION=latest
RUN npm install --global "llm-do@$LLM_DO_VERSION"
WORKDIR /program
COPY . .
# Records outlive the container in a volume. They hold secrets.
RUN mkdir /runs && chown node /runs
ENV LLM_DO_STORE=/runs
USER node
VOLUME /runs
ENTRYPOINT ["llm-do"]
CMD [".", "--hold", "--trust", "--limit", "usd=1"]
